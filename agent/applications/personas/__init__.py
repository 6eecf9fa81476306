"""The refined layers above the raw history, and joining with profiles that agreed (Persona-DB).

``groups`` says which memories belong together, ``prompts`` what the model is asked,
``faithfulness`` what a line may say, ``cache_layer`` the fixed categories; ``refresh`` makes what
is due, ``manual_edit`` rewords a line, ``persona_in_answers`` shares lines with an answer,
``join`` reads other profiles, ``predict_option`` predicts a choice. See docs/personas.md.
"""
