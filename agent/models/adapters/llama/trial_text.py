"""Sample text for the model trial (``agent.models.worker.trial``).

Plain prose: the next words are likely, so that a kernel which computes nonsense is seen at once.
"""

TRIAL = """\
The harbour of the old town lies at the mouth of a small river. In the morning the fishing boats \
come back, and the men carry their boxes up the stairs to the market. A few people are waiting \
there already. They buy fish for the restaurants on the square, and they talk about the weather, \
the price of fuel and the football match of the evening before. At nine o'clock the bells of the \
church begin to ring, and the children run across the bridge to their school. The baker opens his \
shop, puts a table outside and sells coffee and warm bread to everybody who passes by. Later in \
the day the ferry brings visitors from the other side of the bay. Most of them climb the hill to \
see the castle, which was built eight hundred years ago and has three round towers and a garden \
with a view of the sea.\
"""
