"""What the person lets other programs do: changes of an MCP client that wait for a code
(``mcp_confirmations``), browsers whose extension may ask (``paired_browsers``)."""
