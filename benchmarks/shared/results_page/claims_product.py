"""The claims of the product's own parts: what it reads, stores, fills and how fast it is."""

from __future__ import annotations

from benchmarks.shared.results_page.claims import Claim, Row, least, most

CHANGES = "{two_messages,writer_1,writer_2,chinese,languages}"
QUALITY = (
    Claim(
        "Editing: repeat, deny, replace",
        "A memory is replaced only where that is nearly certain, so an edit is right less often"
        " than by a prompt on the 1.5B model: where one value at a time is allowed, the old one"
        " mostly stays beside the new one, with an edge that tells of the doubt. Plain statements"
        " are hardly ever lost.",
        ("editing",),
        "the product",
        (
            Row("CarMem: right / where one value / where several are allowed",
                "operation.{accuracy,one_allowed,several_allowed}",
                {"always append": "always_append.accuracy",
                 "trained on its users": "in_domain.{accuracy,one_allowed,several_allowed}"},
                "utterances", (least(0.8), None, None)),
            Row("CarMem: right, utterances that the model was asked too",
                "prompt.operation.accuracy_on_the_same", {"1.5B, prompt": "prompt.accuracy"},
                "prompt.n"),
        ),
    ),
    Claim(
        "Changes as people tell them",
        "The current value is told more often than by the same model with all messages pasted, in"
        " every set. News that sounds like a change and is none is the weak side: with examples"
        " pasting keeps more of what is unrelated apart. The reader learned from other writers, and"
        " thresholds were chosen on those; the form of the answer, what a doubtful change counts"
        " and rules for other languages were chosen on these cases. The alternative has four worked"
        " examples. The two more languages are German and Spanish, with cases of our own. Three"
        " months of chat by people who never saw the code: whether an answer has all that it must"
        " and nothing that is out of date; nobody read what failed there. Newcomers introduce"
        " themselves in lines of several facts; right is half of the answer's words.",
        ("changes", "chats", "introductions", "replacements"),
        "memlane",
        (
            Row("current value told: two messages / writer 1 / writer 2 / Chinese / two more",
                f"{CHANGES}.ours.current",
                {"messages pasted": f"{CHANGES}.plain.current",
                 "with examples": f"{CHANGES}.few_shot.current"},
                f"{CHANGES}.n",
                (least(0.85), least(0.5), least(0.5), least(0.45), None)),
            Row("out-of-date value told: the same",
                f"{CHANGES}.ours.stale",
                {"messages pasted": f"{CHANGES}.plain.stale",
                 "with examples": f"{CHANGES}.few_shot.stale"},
                f"{CHANGES}.n",
                (most(0.06), most(0.15), most(0.15), None, None)),
            Row("look-alikes kept apart: unrelated / of somebody else",
                "changes:kind.{unrelated,thirdparty}.ours.current",
                {"messages pasted": "changes:kind.{unrelated,thirdparty}.plain.current",
                 "with examples": "changes:kind.{unrelated,thirdparty}.few_shot.current"},
                "changes:kind.{unrelated,thirdparty}.n", (least(0.92), least(0.92))),
            Row("chats held out: answered right / claimed wrongly / told and stored",
                "chats:{ours.right,ours.wrong,told.stored}",
                {"messages pasted, with examples": "chats:{pasted.right,pasted.wrong}"},
                "chats:{ours.n,told.n}", (least(0.85), most(0.03), least(0.9))),
            Row("first lines of newcomers, held out: right / silent though told / silent, untold",
                "introductions:{told.right,told.silent,untold.silent}",
                {},
                "introductions:{told.n,untold.n}"),
            Row("automatic replacements that are right, voices held out: told / in files",
                "replacements:{told,read}.right",
                {},
                "replacements:{told,read}.n", (least(0.95), least(0.99))),
        ),
    ),
    Claim(
        "Dates",
        "Most English time expressions get exactly the value that would be stored; finds where"
        " there is nothing are the weak side. Which side of today a date with two readings lies on"
        " (on Friday, the twelfth), and whether the words name a day at all (for the first time),"
        " is learned. Libraries: [decision](decisions/0004-dates.md).",
        ("dates", "tense_train", "one_day_train"),
        "exact",
        (
            Row("kinds that memory uses: all / marked as supported; texts without a time",
                "exact_{all_memory_types,supported_memory_types,nothing_to_find}",
                n="n_{all_memory_types,supported_memory_types,nothing_to_find}"),
            Row("past or ahead: voices that nothing was learned from, in turn / chats",
                "tense_train:{voices,chats}.right",
                {"always ahead": "tense_train:{voices,chats}.right.ahead"},
                "tense_train:{voices,chats}.n"),
            Row("dated though no day: voices held out in turn / chats, lower is better",
                "one_day_train:{voices,chats}.wrong",
                {"all dated": "one_day_train:{voices,chats}.wrong.all"},
                "one_day_train:{voices,chats}.n"),
        ),
    ),
    Claim(
        "Extraction and entities",
        "Nearly all that is labelled becomes memories, in the words of the text, and little else,"
        " where the paper's prompt on the 1.5B model fails; who is who, and what is one event, is"
        " found with few misses. The sets are small; only the entities' test half was not looked"
        " at, and what counts as unsupported is none by construction, as no word is added.",
        ("extraction", "entities"),
        "ours",
        (
            Row("mempalace: coverage / junk / unsupported",
                "mempalace_ours_{coverage,junk,unsupported}",
                {"the paper's prompt": "mempalace_plain_{coverage,junk,unsupported}"},
                "mempalace_ours_labels|labels"),
            Row("people: precision / recall", "entities:people, test: {precision,recall}",
                {"same name": "entities:people, test: {precision,recall}, yardstick"},
                "entities:people, test: pairs|pairs"),
            Row("events: precision / recall", "entities:events, test: {precision,recall}",
                {"same name": "entities:events, test: {precision,recall}, yardstick"},
                "entities:events, test: pairs|pairs"),
        ),
    ),
    Claim(
        "Autofill",
        "On web forms fields get the right value or stay empty; the few wrong fills are on forms"
        " whose wordings were not looked at. In simulated lives a later address or employer is"
        " filled in from its day on, and few values are out of date.",
        ("autofill",),
        "the product",
        (
            Row("web forms, seen / unseen: wrong fills", "public_{seen,unseen}_wrong_fills",
                n="public_{seen,unseen}_must_stay_empty"),
            Row("lives, test bank: exact / wrong fills / stale",
                "lives_test_{exact_match,wrong_fills,stale}", n="lives_test_fields"),
        ),
    ),
    Claim(
        "Forms of what people told",
        "The language model copies several times as many right values as patterns and the form"
        " reader find. Most of what is told in free wording is still not filled in, and too much is"
        " wrong. People and forms are of writers who saw no code; nothing was learned from them.",
        ("forms_told",),
        "with the model",
        (
            Row("right / wrong / offered", "forms_people_held_llm_{right,wrong,offered}",
                {"without": "forms_people_held_no_llm_{right,wrong,offered}"},
                "forms_people_held_llm_{with_value,must_stay_empty}"),
        ),
    ),
    Claim(
        "Abstention",
        "The judge keeps silent on what was never told, but not on questions that put one"
        " speaker's words into the other's mouth.",
        ("abstention",),
        "the judge",
        (
            Row("locomo, category five: silent when it must / kept when it may",
                "locomo.scout.judge.{recall,kept}",
                {"cosine floor": "locomo.scout.cosine.{recall,kept}"},
                "locomo.scout.{unanswerable_n,answerable_n}"),
            Row("lives, test bank: the same", "lives.scout.judge.{recall,kept}",
                {"cosine floor": "lives.scout.cosine.{recall,kept}",
                 "fixed floor": "lives.scout.floor.{recall,kept}"},
                "lives.scout.{unanswerable_n,answerable_n}"),
            Row("prefeval beside nq_open: the same", "prefeval.scout.judge.{recall,kept}",
                {"cosine floor": "prefeval.scout.cosine.{recall,kept}",
                 "fixed floor": "prefeval.scout.floor.{recall,kept}"},
                "prefeval.scout.{unanswerable_n,answerable_n}"),
        ),
        disappoints=True,
    ),
    Claim(
        "Services: reminders and the way to a place",
        "Given right extraction, nearly all that comes is told exactly and no address is invented.",
        ("services", "services_llm"),
        "the product",
        (
            Row("reminders, test bank", "test.product.reminder_em",
                {"top-k": "test.top-k.reminder_em", "all memories": "test.all.reminder_em"},
                "test.product.reminder_em_n"),
            Row("addresses right / invented, test bank", "test.product.{travel_em,invented}",
                {"top-k": "test.top-k.{travel_em,invented}"},
                "test.product.{travel_em_n,invented_n}"),
            Row("reminders / addresses, one life",
                "services_llm:test.product.{reminder_em,travel_em}",
                {"1.5B": "services_llm:test.llm.{reminder_em,travel_em}"},
                "services_llm:test.product.{reminder_em_n,travel_em_n}"),
        ),
    ),
    Claim(
        "Screens",
        "A value and its label end in one line of text in fewer than half of the cases, though"
        " more often than in rows.",
        ("screens",),
        "ours",
        (
            Row("label and value in one line", "ours.together",
                {"rows": "rows.together", "plain": "plain.together"}, "questions"),
        ),
        disappoints=True,
    ),
)  # fmt: skip

SPEED = (
    Claim(
        "Speed: homes of many memories",
        "Choosing and editing stay fast among a hundred thousand invented memories that are alike"
        " in all but a name or a number. Runs on this busy machine differ, and one before missed"
        " the bar of the smaller home ([choosing](selection.md), the question's embedding aside)."
        " An edit was measured before the statement reader judged what a new memory may change:"
        " that takes many times as long.",
        ("select_speed", "edit_speed", "lock_speed", "import_speed", "large_home"),
        "`scout`, the product",
        (
            Row("choosing, ms, at 10,000 / 100,000", "{10000,100000}.scout.ms",
                {"top-k": "{10000,100000}.top-k.ms", "fused": "{10000,100000}.fused.ms"},
                "config.questions * seeds",
                (most("config.bars_ms.10000"), most("config.bars_ms.100000"))),
            Row("right memory found", "{10000,100000}.scout.found",
                {"top-k": "{10000,100000}.top-k.found", "BM25": "{10000,100000}.bm25.found"},
                "config.questions * seeds"),
            Row("an edit, ms", "edit_speed:{10000,100000}.edit_ms",
                {"index built anew": "edit_speed:{10000,100000}.plain_edit_ms"},
                "edit_speed:config.edits * edit_speed:seeds",
                (most("edit_speed:config.bars.edit_ms.10000"),
                 most("edit_speed:config.bars.edit_ms.100000"))),
            Row("at 100,000: s to open / MB beside the models",
                "edit_speed:100000.{open_s,rss_mb}", n="edit_speed:seeds",
                bars=(most("edit_speed:config.bars.open_s"),
                      most("edit_speed:config.bars.rss_mb"))),
            Row("at 1,000,000, of the processor: ms to choose / to edit, s to the first choice; MB",
                "large_home:{scout.cpu_ms,edit_cpu_ms,first_question_cpu_s,rss_mb}",
                n="large_home:config.questions|questions",
                bars=(most(50), most(60), most(3), most(2000))),
            Row("encrypted: first question, ms, at 1,000 / 10,000 (bars: times plain)",
                "lock_speed:{1000,10000}.encrypted.first_question_ms",
                {"plain": "lock_speed:{1000,10000}.plain.first_question_ms"},
                "lock_speed:config.first * lock_speed:seeds",
                (most("lock_speed:config.bar", "lock_speed:1000.first_question_ratio"),
                 most("lock_speed:config.bar", "lock_speed:10000.first_question_ratio"))),
            Row("importing 20,000 lines, s of the processor: empty home / into another",
                "import_speed:20000.{restored,merged}.cpu_s",
                {"before batches": "import_speed:20000.before.{restored,merged}.cpu_s"}),
        ),
    ),
    Claim(
        "Speed: notes, chat, commands, start",
        "Ingest is far slower than it once was: each sentence of a note is judged beside older ones"
        " now, and that takes a third of the time, the sentence encoder an eighth. The first"
        " word of a chat comes when llama.cpp's own would (its bar is a multiple); commands answer"
        " at once where the resident process is up.",
        ("ingest_speed", "document_speed", "chat_speed", "resident", "startup", "hook_speed"),
        "the product",
        (
            Row("ingest: notes a second / share of the time of judging / of the encoder",
                "{notes_a_second,judging_share,encoder_share}", n="notes|notes",
                bars=(None, None, least(0.9))),
            Row("PDF: pages a minute, text read", "document_speed:pdf_pages_a_minute",
                n="document_speed:pages|pages", bars=(least(300),)),
            Row("chat: first word, ms", "chat_speed:first_ms_median",
                {"llama.cpp": "chat_speed:llama_ms_median"}, "chat_speed:measured|questions",
                (most("chat_speed:bar", "chat_speed:ratio_median"),)),
            Row("`ask` / `remember` without a model / hook at a prompt, ms",
                "{resident:ask_median_ms,resident:remember_median_ms,hook_speed:prompt_median_ms}",
                {"no process": "resident:{ask_without_median_ms,remember_without_median_ms}",
                 "the hook's earlier entry": "hook_speed:earlier_prompt_median_ms"},
                "resident:config.count|each",
                (most("resident:bar_ms"), most("resident:bar_ms"), most("hook_speed:bar_ms"))),
            Row("help text, s", "startup:help_median_s",
                {"models imported": "startup:eager_median_s"}, "startup:config.runs|runs",
                (most("startup:bar_s"),)),
        ),
    ),
    Claim(
        "Speed: beside other memory systems",
        "Without a language model memlane finds no more than vectors of the same encoder do, and is"
        " many times as slow: it works out what each message changes, and reads what it found. All"
        " voices are in one store, so what is stale is often somebody else's. The others store"
        " messages as they stand; engraphis also looks for texts that contradict each other. MCP's"
        " memory server finds nothing by a question.",
        ("peers",),
        "memlane",
        (
            Row("s: 100 messages added / 50 questions asked",
                "peers:memlane.{add_s,ask_s}",
                {"mem0": "peers:mem0.{add_s,ask_s}",
                 "engraphis with MiniLM": "peers:engraphis_minilm.{add_s,ask_s}",
                 "engraphis": "peers:engraphis.{add_s,ask_s}", "geny": "peers:geny.{add_s,ask_s}",
                 "basic-memory": "peers:basic_memory.{add_s,ask_s}"}),
            Row("answer in the first five / a stale value before it / messages kept",
                "peers:memlane.{found,stale,kept}",
                {"mem0": "peers:mem0.{found,stale,kept}",
                 "engraphis with MiniLM": "peers:engraphis_minilm.{found,stale,kept}",
                 "engraphis": "peers:engraphis.{found,stale,kept}",
                 "geny": "peers:geny.{found,stale,kept}",
                 "basic-memory": "peers:basic_memory.{found,stale,kept}"},
                "peers:config.questions|questions"),
            Row("MB of memory / KB on disk", "peers:memlane.{peak_mb,kb}",
                {"mem0": "peers:mem0.{peak_mb,kb}",
                 "engraphis with MiniLM": "peers:engraphis_minilm.{peak_mb,kb}",
                 "engraphis": "peers:engraphis.{peak_mb,kb}", "geny": "peers:geny.{peak_mb,kb}",
                 "basic-memory": "peers:basic_memory.{peak_mb,kb}",
                 "MCP memory": "peers:mcp_memory.{peak_mb,kb}"}),
        ),
        disappoints=True,
    ),
    Claim(
        "Speed: the page",
        "How long each look at the page takes in a large home, drawing aside.",
        ("web_speed",),
        "the product",
        (
            Row("10,000 memories, ms: start / around me / search",
                "10,000 memories.{start,around_me,search}.median_ms", n="seeds",
                bars=(most("bar_ms"), most("bar_ms"), most("bar_ms"))),
            Row("100,000 memories, ms: the same",
                "100,000 memories.{start,around_me,search}.median_ms", n="seeds"),
        ),
    ),
    Claim(
        "Speed: rewards and training",
        "Rewards are several times as fast as plain loops over llama.cpp, but further above the"
        " floor of the hardware than the goal. Training one policy fits into an hour.",
        ("rewards", "training_person"),
        "the engine",
        (
            Row("1.5B / 135M: utility, times the floor",
                "{qwen2.5-coder-1.5b,smollm2-135m}_utility_x_floor", n="seeds",
                bars=(most(1.25), most(1.25))),
            Row("1.5B: s a question (bars: times as fast)", "qwen2.5-coder-1.5b_utility_s",
                {"`eval` loop": "qwen2.5-coder-1.5b_utility_loop_s",
                 "`create_completion`": "qwen2.5-coder-1.5b_utility_completion_s"}, "seeds",
                (least(4, "qwen2.5-coder-1.5b_utility_faster_than_loop"),
                 least(12, "qwen2.5-coder-1.5b_utility_faster_than_completion"))),
            Row("1.5B: likelihood under sampled sets, s", "qwen2.5-coder-1.5b_likelihood_s",
                {"`eval` loop": "qwen2.5-coder-1.5b_likelihood_loop_s"}, "seeds",
                (least(5, "qwen2.5-coder-1.5b_likelihood_faster_than_loop"),)),
            Row("1.5B: peak memory over the file, GB", "qwen2.5-coder-1.5b_peak_over_file_gb",
                n="seeds", bars=(most(1.5),)),
            Row("minutes to train `purple` / `rums-binary`",
                "training_person:{purple,rums-binary}.total_minutes",
                n="training_person:config.memories|memories",
                bars=(most("training_person:config.bar_minutes"),
                      most("training_person:config.bar_minutes"))),
        ),
    ),
    Claim(
        "Speed: models in processes of their own",
        "What a worker process costs in speed, and whether it changes a reward.",
        ("worker_speed",),
        "worker",
        (
            Row("tokens a second / first word, ms", "{tokens_s,first_ms}_worker",
                {"in process": "{tokens_s,first_ms}_here"}, "config.rounds|requests",
                (least(0.97, "tokens_s_ratio"), most(15, "first_ms_later"))),
            Row("time in process, times: entropy / likelihood; the same to the last bit",
                "{entropy_ratio,likelihood_ratio,rewards_identical}",
                bars=(most(1.05), most(1.05), least(1))),
        ),
    ),
)  # fmt: skip
