"""Tables beside the memories, a module each: nothing here is a memory.

Consents and other homes (``sharing_consents``, ``shared_homes``, ``form_consents``), other
programs (``programs/``), what is asked and shown (``pending_questions``, ``shown_reminders``), what
was ingested (``ingest_runs``, ``watch_queue``), ``personas``, ``training_data``, ``change_edges``.
May import: the files of ``store`` below ``graph``, ``tables``.
"""
