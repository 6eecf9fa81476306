"""What memlane does with a message, in ten packages. Each imports only what stands below its line.

    server                    resident process, web page, MCP
    learning                  training on the user's own memories
    session                   one request from start to end
    io | applications         files in and out | forms, personas, ratings, services
    answering                 question -> memories -> answer
    memory                    memories of one home: who, when, edits
    extraction                raw text -> drafts of memories
    models                    language model, encoder, OCR
    language                  rules for text, without a model or a graph
    config, errors, ports, results, server_address, version

``tests/test_architecture.py`` checks it. What is where: docs/architecture.md.
"""
