"""The claims of the five papers: EMG-RAG, MAP, RUMS, PURPLE, Persona-DB."""

from __future__ import annotations

from benchmarks.shared.results_page.claims import Claim, Row, least, most

EMG = (
    Claim(
        "EMG-RAG: which memories are chosen",
        "On short Chinese messages `scout` is hardly better than BM25, in simulated lives no better"
        " than the paper's walk or than one memory; in long conversations it is far ahead. Of a"
        " life all memories at once do less for the answer (gain: log-likelihood, nats a token)"
        " than the key or `scout`; a long conversation is more than the model reads. The bar of F1"
        " is a multiple of the best fixed way's at five memories.",
        ("emg_policies", "recall", "which_policy"),
        "`scout`",
        (
            Row("memdaily_zh: evidence F1", "memdaily_zh.scout.f1",
                {"BM25": "memdaily_zh.bm25.f1", "fused": "memdaily_zh.fused.f1",
                 "top-k": "memdaily_zh.top-k.f1", "the paper's walk": "memdaily_zh.walk.f1"},
                "memdaily_zh.scout.n", (least(1.25, "memdaily_zh.scout.over_fixed_f1"),)),
            Row("locomo: evidence F1", "locomo.scout.f1",
                {"fused": "locomo.fused.f1", "BM25": "locomo.bm25.f1", "top-k": "locomo.top-k.f1",
                 "the paper's walk": "locomo.walk.f1"},
                "locomo.scout.n", (least(1.25, "locomo.scout.over_fixed_f1"),)),
            Row("lives, test bank: evidence F1", "lives_test.scout.f1",
                {"partitioned (M-RAG)": "lives_test.partitioned.f1",
                 "top-k": "lives_test.top-k.f1", "one memory": "lives_test.top-k@1.f1",
                 "the paper's walk": "lives_test.walk.f1"},
                "lives_test.scout.n", (least(1.25, "lives_test.scout.over_fixed_f1"),)),
            Row("locomo: evidence among the first ten candidates", "recall:locomo.fused.recall@10",
                {"BM25": "recall:locomo.bm25.recall@10", "dense": "recall:locomo.dense.recall@10"},
                "recall:locomo.questions", (least("recall:config.bar.locomo.best.recall@10"),)),
            Row("mixed questions: F1 / tokens of memories",
                "which_policy:all three.scout.{f1,tokens}",
                {"all": "which_policy:all three.all.{f1,tokens}",
                 "top-k": "which_policy:all three.top-k.{f1,tokens}",
                 "walk": "which_policy:all three.walk.{f1,tokens}",
                 "purple": "which_policy:all three.purple.{f1,tokens}",
                 "rums-binary": "which_policy:all three.rums-binary.{f1,tokens}",
                 "the key": "which_policy:all three.oracle.{f1,tokens}"},
                "which_policy:all three.scout.n * which_policy:seeds"),
            Row("lives among them: gain / tokens of memories",
                "which_policy:lives.scout.{gain,tokens}",
                {"all": "which_policy:lives.all.{gain,tokens}",
                 "top-k": "which_policy:lives.top-k.{gain,tokens}",
                 "walk": "which_policy:lives.walk.{gain,tokens}",
                 "purple": "which_policy:lives.purple.{gain,tokens}",
                 "rums-binary": "which_policy:lives.rums-binary.{gain,tokens}",
                 "the key": "which_policy:lives.oracle.{gain,tokens}"},
                "which_policy:lives.scout.n * which_policy:seeds"),
        ),
    ),
    Claim(
        "EMG-RAG: the walk on a real graph",
        "On memories and relations that the product's rules read out of conversations the paper's"
        " walk does better than on raw turns, as similarity alone does, and stays far below one"
        " memory of the fused ranking."
        " Retrained on so few questions it is worse, less so in the paper's own form, node by node."
        " Bars are multiples of the best fixed way's F1 at the number of memories that suits it.",
        ("emg_graph_locomo", "emg_graph_memdaily_zh"),
        "`scout`",
        (
            Row("locomo as read: F1 by turns / over several turns", "scout shipped.{f1,f1_several}",
                {"fused at 1": "fused@1.{f1,f1_several}", "fused at 3": "fused@3.{f1,f1_several}",
                 "M-RAG at 1": "partitioned@1.{f1,f1_several}",
                 "Keqing at 1": "decomposed@1.{f1,f1_several}"},
                "scout shipped.{n,several}",
                (None, least(1.25, "scout shipped.over_fixed_several"))),
            Row("memdaily_zh as read: F1 by messages / over several",
                "emg_graph_memdaily_zh:scout shipped.{f1,f1_several}",
                {"BM25 at 3": "emg_graph_memdaily_zh:bm25@3.{f1,f1_several}",
                 "M-RAG at 3": "emg_graph_memdaily_zh:partitioned@3.{f1,f1_several}",
                 "the paper's walk": "emg_graph_memdaily_zh:walk shipped.{f1,f1_several}"},
                "emg_graph_memdaily_zh:scout shipped.{n,several}",
                (None, least(1.25, "emg_graph_memdaily_zh:scout shipped.over_fixed_several"))),
            Row("the paper's walk on locomo: the same", "walk shipped.{f1,f1_several}",
                {"retrained": "walk retrained.{f1,f1_several}",
                 "retrained, by nodes": "node walk retrained.{f1,f1_several}"},
                "walk shipped.{n,several}",
                (None, least(1.15, "walk shipped.over_fixed_several"))),
        ),
    ),
    Claim(
        "EMG-RAG: questions over several memories",
        "Where questions need two to four memories, `scout` is ahead of each fixed way, by less"
        " than was aimed at, and finds as many of them whole as a fixed way with twice its"
        " memories. Where four are needed it stops early and a fixed way is ahead. The paper's walk"
        " is not ahead. Bars are multiples of the best fixed way's F1 at the number of memories"
        " that suits it.",
        ("emg_links",),
        "`scout`",
        (
            Row("F1 over two and more memories", "scout.f1_several",
                {"top-k at 1": "top-k@1.f1_several", "rrf at 2": "rrf@2.f1_several",
                 "M-RAG at 2": "partitioned@2.f1_several", "Keqing at 2": "decomposed@2.f1_several",
                 "the paper's walk": "walk.f1_several"},
                "questions_several", (least(1.25, "scout.over_fixed_several"),)),
            Row("the paper's walk: F1 over two and more", "walk.f1_several",
                {"rrf at 2": "rrf@2.f1_several"}, "questions_several",
                (least(1.15, "walk.over_fixed_several"),)),
            Row("F1 over 1 / 2 / 3 / 4 memories", "scout.{f1_1,f1_2,f1_3,f1_4}",
                {"rrf at 2": "rrf@2.{f1_1,f1_2,f1_3,f1_4}",
                 "rrf at 4": "rrf@4.{f1_1,f1_2,f1_3,f1_4}",
                 "the paper's walk": "walk.{f1_1,f1_2,f1_3,f1_4}"},
                "questions_{1,2,3,4}"),
            Row("share of two and more found whole / memories taken of all",
                "scout.{all_found,memories}",
                {"rrf at 2": "rrf@2.{all_found,memories}",
                 "rrf at 5": "rrf@5.{all_found,memories}",
                 "the paper's walk": "walk.{all_found,memories}"}, "questions_several"),
        ),
    ),
    Claim(
        "EMG-RAG: answers from what was chosen",
        "Better evidence does not make the 1.5B model's answers better than the best other way's:"
        " it finds one memory among five as well as alone, and answers hard questions badly even"
        " from the key's memories. Of the Chinese messages too few were asked to read anything."
        " The bar of answers is a multiple of the best other way's.",
        ("emg_policies_lives", "emg_policies_conversations", "emg_policies_messages"),
        "`scout`",
        (
            Row("locomo: token F1", "emg_policies_conversations:locomo.scout.token_f1",
                {"BM25": "emg_policies_conversations:locomo.bm25.token_f1",
                 "top-k": "emg_policies_conversations:locomo.top-k.token_f1",
                 "the key": "emg_policies_conversations:locomo.oracle.token_f1"},
                "emg_policies_conversations:locomo.scout.answers * seeds",
                (least(1.1, "emg_policies_conversations:locomo.scout.over_best_token_f1"),)),
            Row("memdaily_zh: right", "emg_policies_messages:memdaily_zh.scout.right",
                {"fused": "emg_policies_messages:memdaily_zh.fused.right",
                 "top-k": "emg_policies_messages:memdaily_zh.top-k.right",
                 "the key": "emg_policies_messages:memdaily_zh.oracle.right"},
                "emg_policies_messages:memdaily_zh.scout.answers * seeds",
                (least(1.1, "emg_policies_messages:memdaily_zh.scout.over_best_right"),)),
            Row("lives: right; second bar: share of the key's", "lives_test.scout.right",
                {"top-k": "lives_test.top-k.right", "fused": "lives_test.fused.right",
                 "the key": "lives_test.oracle.right"}, "lives_test.scout.answers * seeds",
                (least(1.1, "lives_test.scout.over_best_right"),
                 least(0.85, "lives_test.scout.oracle_share_right"))),
            Row("tokens of the prompt: lives / locomo",
                "emg_policies_{lives:lives_test,conversations:locomo}.scout.prompt_tokens",
                {"top-k at 20":
                    "emg_policies_{lives:lives_test,conversations:locomo}.top-k@20.prompt_tokens"},
                "emg_policies_{lives:lives_test,conversations:locomo}.scout.n",
                (most(0.5, "lives_test.scout.prompt_share"),
                 most(0.5, "emg_policies_conversations:locomo.scout.prompt_share"))),
        ),
    ),
    Claim(
        "EMG-RAG: learning",
        "Learning from a person's corrections does not help as it does in the paper, and no reward"
        " improves the weights that ship. From nothing the warm start gives most; in the paper"
        " policy gradient does. The bar of entropy, which is told no answer, is a share of the best"
        " informed reward's gain.",
        ("emg_online", "emg_ablation", "reward_kinds", "training_cost"),
        "after, or whole",
        (
            Row("lives: F1 / recall after corrections", "lives_test.after.{f1,recall}",
                {"before": "lives_test.before.{f1,recall}"}, "lives_test.after.trainings|people"),
            Row("locomo: F1 / recall after corrections", "locomo.after.{f1,recall}",
                {"before": "locomo.before.{f1,recall}"}, "locomo.after.trainings|people"),
            Row("lives: F1 of shipped weights, trained further by likelihood",
                "reward_kinds:lives_test.shipped likelihood.f1",
                {"not": "reward_kinds:lives_test.shipped untrained.f1",
                 "entropy": "reward_kinds:lives_test.shipped entropy.f1",
                 "answer's metric": "reward_kinds:lives_test.shipped answer.f1"},
                "reward_kinds:lives_test.shipped likelihood.n * reward_kinds:seeds"),
            Row("lives: F1 of `scout` learned from nothing",
                "emg_ablation:lives_test.scout full.f1",
                {"no gradient": "emg_ablation:lives_test.scout no_gradient.f1",
                 "no warm start": "emg_ablation:lives_test.scout no_warm_start.f1",
                 "from the root": "emg_ablation:lives_test.scout no_activation.f1"},
                "emg_ablation:lives_test.scout full.n * emg_ablation:seeds"),
            Row("lives: F1 gained by the entropy reward alone",
                "reward_kinds:lives_test.fresh entropy.gain_f1",
                {"with answers": "reward_kinds:lives_test.fresh both.gain_f1",
                 "likelihood": "reward_kinds:lives_test.fresh likelihood.gain_f1",
                 "answer's metric": "reward_kinds:lives_test.fresh answer.gain_f1"},
                "reward_kinds:lives_test.fresh entropy.n * reward_kinds:seeds",
                (least(0.5, "reward_kinds:lives_test.fresh entropy.entropy_share_f1"),)),
            Row("minutes of training, 1.5B reward", "training_cost:scout.likelihood.total_minutes",
                n="training_cost:config.episodes|episodes",
                bars=(most("training_cost:config.bar_minutes"),)),
        ),
        disappoints=True,
    ),
    Claim(
        "EMG-RAG: four weeks of edits",
        "Given right extraction the graph says what holds now. From raw text it does not always:"
        " a change in an unknown wording stays wrong in each later week (one life of each bank,"
        " of a few questions each).",
        ("lives", "lives_end_to_end", "emg_edits"),
        "the product",
        (
            Row("stale / lost / right about the past: raw text, test bank",
                "lives_end_to_end:test.endtoend.{stale,lost,asof_right}",
                {"messages pasted": "lives_end_to_end:test.plain.{stale,lost,asof_right}",
                 "with examples": "lives_end_to_end:test.few_shot.{stale,lost,asof_right}"},
                "lives_end_to_end:test.endtoend.{stale_n,lost_n,asof_right_n}",
                bars=(most(0.02), most(0.02), least(0.9))),
            Row("stale / lost / right about the past: raw text, training bank",
                "lives_end_to_end:train.endtoend.{stale,lost,asof_right}",
                n="lives_end_to_end:train.endtoend.{stale_n,lost_n,asof_right_n}",
                bars=(most(0.02), most(0.02), least(0.9))),
            Row("stale / lost / right about the past: right extraction, test bank",
                "test.product.{stale,lost,asof_right}",
                {"newest of top-k": "test.newest.{stale,lost,asof_right}",
                 "partitions (M-RAG)": "test.parts.{stale,lost,asof_right}"},
                "test.product.{stale_n,lost_n,asof_right_n}",
                (most(0.02), most(0.02), least(0.9))),
            Row("right in week 1 / 4: questions", "emg_edits:test.product.{qa_week1,qa_week4}",
                {"newest": "emg_edits:test.newest.{qa_week1,qa_week4}",
                 "M-RAG": "emg_edits:test.parts.{qa_week1,qa_week4}"},
                "emg_edits:config.lives|lives"),
        ),
    ),
)  # fmt: skip

FEW_MANY = "{mae_5,mae_17}"
RATED = (
    ("films", "smollm2-135m", "floors", "people|people, a third of them to calibrate"),
    ("films without a common genre", "map_cross:genres, smollm2-135m", "map_cross:genres, floors",
     "map_cross:genres people|people, a third to calibrate"),
    ("books by films", "map_cross:books, smollm2-135m", "map_cross:books, floors",
     "map_cross:books people|people, half to calibrate"),
)  # fmt: skip
"""Each task of MAP: what, keys of the model's figures and of the floors', and how many people."""

OTHER_PAPERS = (
    Claim(
        "MAP: ratings foretold",
        "MAP itself, where the 135M model alone foretells from three ratings, is worse than the"
        " whole history in the prompt once many films are known, or few films for a book, and"
        " always worse than the person's own mean. The product calibrates: that beats the whole"
        " history with fewer tokens, but the model's word adds nothing to it, a whole history"
        " calibrated alike is as good, and recommenders that know everybody are better for films."
        " Mean absolute error in stars, after few / many ratings. What is calibrated is read in"
        " whole stars, and so is what stands beside it.",
        ("map_ratings", "map_cross"),
        "with the 135M",
        (
            *(
                Row(f"{what}, MAP itself, 5 / 17",
                    f"{of}.ours, model alone, expectation.{FEW_MANY}",
                    {"whole history": f"{of}.unfiltered, expectation.{FEW_MANY}",
                     "own mean": f"{floors}.user mean.{FEW_MANY}",
                     "SVD over everybody": f"{floors}.surprise SVD.{FEW_MANY}"}, n,
                    tuple(most(1, times=f"{of}.unfiltered, expectation.mae_{size}")
                          for size in (5, 17)))
                for what, of, floors, n in RATED
            ),
            *(
                Row(f"{what}, calibrated, 5 / 17", f"{of}.ours.{FEW_MANY}",
                    {"no model": f"{of}.without the model.{FEW_MANY}",
                     "whole history, calibrated": f"{of}.unfiltered, calibrated.{FEW_MANY}",
                     "own mean": f"{floors}.user mean, whole.{FEW_MANY}",
                     "SVD over everybody": f"{floors}.surprise SVD, whole.{FEW_MANY}"}, n)
                for what, of, floors, n in RATED
            ),
            Row("films, tokens of the prompt, 5 / 17", "smollm2-135m.ours.{tokens_5,tokens_17}",
                {"whole history": "smollm2-135m.unfiltered.{tokens_5,tokens_17}"},
                "config.messages_people|people"),
        ),
        disappoints=True,
    ),
    Claim(
        "MAP: messages routed",
        "The small committee routes better than the 1.5B model with a prompt, and needs no model."
        " The weights that ship have learned from fewer sets, and from what people tell and ask:"
        " they miss far fewer of people's questions, but on a balanced sample of the sets they are"
        " behind logistic regression, and on a car's commands far worse than on other messages.",
        ("routing",),
        "committee",
        (
            Row("weights that ship, unseen carmem / prefeval: macro-F1",
                "shipped.unseen_sets.{carmem,prefeval}.macro_f1",
                {"regression, sets left out": "plain.left_out.{carmem,prefeval}.macro_f1"}),
            Row("recipe that ships, balanced / natural sample / the 1.5B's messages",
                "{recipe.balanced,recipe.natural,same_sample.recipe}.macro_f1",
                {"regression": "{plain.balanced,plain.natural,same_sample.plain}.macro_f1",
                 "1.5B, its messages": "llm.macro_f1"}, "config.messages|messages"),
            Row("trained on all sources, balanced sample", "committee.balanced.macro_f1",
                {"regression": "plain.balanced.macro_f1"}, "config.per_route|a route at most",
                (least(0.87),)),
            Row("people held out: questions looked up / tried as told / what is told, tried",
                "shipped.people.{asked.looked_up,asked.tried,told.tried}",
                {"learned from nobody's messages":
                 "without_people.people.{asked.looked_up,asked.tried,told.tried}"},
                "shipped.people.asked.n|questions"),
        ),
        disappoints=True,
    ),
    Claim(
        "RUMS: memories that make the answer surer",
        "The entropy of the two models that run here hardly tells which questions need memory; the"
        " learned selector does. It beats similarity that always speaks, by keeping silent on"
        " trivia; similarity with a floor that only the key knows is nearly as good. For the"
        " answer it gives what similarity gives, with fewer tokens. Bars beside similarity are"
        " multiples of its F1.",
        ("rums_h2", "rums_h1", "rums_h1_some", "rums_h3"),
        "`rums-binary`",
        (
            Row("which question needs memory: AUC / recall / specificity",
                "rums_h1:shipped selectors.rums-binary.{auc,recall,specificity}",
                {"entropy, 135M": "rums_h1:smollm2-135m plain.utility.{auc,recall,specificity}",
                 "1.5B": "rums_h1:qwen2_5-coder-1_5b plain.utility.{auc,recall,specificity}",
                 "1.5B, chat prompt":
                    "rums_h1_some:qwen2_5-coder-1_5b chat.utility.{auc,recall,specificity}",
                 "135M, two signals": "rums_h1:smollm2-135m plain.both.{auc,recall,specificity}"},
                "rums_h1:shipped selectors.rums-binary.n", (None, least(0.9), least(0.9))),
            Row("which memories: F1, beside similarity with a floor / at the same number",
                "prefeval+nq.rums-binary.f1",
                {"with a floor": "prefeval+nq.similarity, same total.f1",
                 "same number": "prefeval+nq.similarity at k.f1",
                 "BM25 at 5": "prefeval+nq.bm25 at 5.f1"}, "prefeval+nq.rums-binary.n * seeds",
                (least(1.3, "prefeval+nq.rums-binary over similarity, same total.times_f1"),
                 least(1.3, "prefeval+nq.rums-binary over similarity at k.times_f1"))),
            Row("F1 / ms beside what asks a model", "prefeval+nq, few.rums-binary.{f1,ms}",
                {"entropy search, 135M": "prefeval+nq, few.utility.{f1,ms}",
                 "1.5B picks": "prefeval+nq, few.prompted.{f1,ms}"},
                "prefeval+nq, few.rums-binary.n * seeds",
                (least(0.95, times="prefeval+nq, few.utility.f1"),
                 most(0.02, times="prefeval+nq, few.utility.ms"))),
            Row("answers: gain in nats / tokens", "rums_h3:prefeval.rums-binary.{gain,tokens}",
                {"similarity at 5": "rums_h3:prefeval.similarity at 5.{gain,tokens}",
                 "everything": "rums_h3:prefeval.all.{gain,tokens}",
                 "the key": "rums_h3:prefeval.gold.{gain,tokens}"},
                "rums_h3:prefeval.rums-binary.n * rums_h3:seeds"),
        ),
        disappoints=True,
    ),
    Claim(
        "PURPLE: an ordered set of memories",
        "On either draw of questions it wins fewer tasks over the paper's baselines than the bar"
        " asks; both draws together just reach it ([why](purple.md)), within the noise. Quality is"
        " minus the error in stars, accuracy, and log-probability a token.",
        ("purple", "purple_draw_1", "purple_more_1"),
        "`purple`",
        (
            Row("tasks won, first / second draw", "purple{,_draw_1}:tasks_won",
                n="purple{,_draw_1}:tasks|tasks", bars=(least(3), least(3))),
            Row("sets below dense by more than the spread, more questions",
                "purple_more_1:sets_below_dense_by_more_than_the_spread",
                {"first draw": "sets_below_dense_by_more_than_the_spread"},
                "purple_more_1:tasks|tasks", (most(0),)),
            Row("quality: rating / survey / answers, first draw",
                "{rating,survey,answers}.purple.quality",
                {"dense": "{rating,survey,answers}.dense.quality",
                 "REPLUG": "{rating,survey,answers}.replug.quality",
                 "fused": "{rating,survey,answers}.fused.quality"},
                "rating.all.questions|a task"),
            Row("the same, second draw", "purple_draw_1:{rating,survey,answers}.purple.quality",
                {"dense": "purple_draw_1:{rating,survey,answers}.dense.quality",
                 "REPLUG": "purple_draw_1:{rating,survey,answers}.replug.quality",
                 "fused": "purple_draw_1:{rating,survey,answers}.fused.quality"},
                "purple_draw_1:rating.all.questions|a task"),
            Row("questions a second", "speed.purple.questions_per_s",
                {"prompted ranking": "speed.prompted.questions_per_s"},
                bars=(least(20, "purple_over_prompted_speed"),)),
        ),
    ),
    Claim(
        "Persona-DB: opinions foretold",
        "Below the majority guess: from what a person and those joined with her answered, fewer"
        " opinions are foretold than by guessing each question's commonest answer. Only with the"
        " public groups, which know thousands of people, is it above, by less than was aimed at,"
        " and there joining adds nothing. Joining does help over a person's own answers alone, most"
        " where few are known. The language model and the inferred lines add nothing. Figures are"
        " for people with many / few answers told.",
        ("persona_opinions", "persona_share"),
        "with joining",
        (
            Row("votes of people against the majority guess, right",
                "{frequent,lurkers}.own+joined.right",
                {"majority": "{frequent,lurkers}.majority.right"}, "frequent.n",
                (least(1, times="frequent.majority.right"),
                 least(1, times="lurkers.majority.right"))),
            Row("votes of people against own answers alone (bar: points gained)",
                "{frequent,lurkers}.own+joined.right",
                {"own answers": "{frequent,lurkers}.own.right"}, "frequent.n",
                (least(0.03, "frequent.joined_above_unjoined"),
                 least(0.03, "lurkers.joined_above_unjoined"))),
            Row("with the public groups (bar: points above the majority guess)",
                "{frequent,lurkers}.own+joined+groups.right",
                {"groups alone": "{frequent,lurkers}.groups.right",
                 "without joining": "{frequent,lurkers}.own+groups.right",
                 "majority": "{frequent,lurkers}.majority.right"}, "frequent.n",
                (least(0.05, "frequent.above_majority"), least(0.05, "lurkers.above_majority"))),
            Row("the 135M alone, right", "{frequent,lurkers}.similar and joined 5.chosen",
                {"no memory": "{frequent,lurkers}.nothing.chosen",
                 "all history": "{frequent,lurkers}.all history.chosen"}, "frequent.asked"),
            Row("answers right with inferred lines", "persona_share:lives.share 25.right",
                {"without": "persona_share:lives.share 0.right"}, "persona_share:questions"),
        ),
    ),
)  # fmt: skip
