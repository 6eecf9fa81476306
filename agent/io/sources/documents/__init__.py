"""Documents -> Markdown text with their pages, by readers of the extra ``documents``.

``read`` is the way in and knows which reader is for which ending: ``pdf``, ``word``, ``web_page``
(with ``markup``), ``book``, ``mail``; ``plain`` has what they share. What becomes of the text is
decided by ``agent.extraction.documents.sections``.
"""
