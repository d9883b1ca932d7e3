# shardax/_explain/prediction_html.py - a prediction for notebooks: a time line and scaling curves.
import math

from shardax._base.svg import Drawing, colour, escape
from shardax._explain import words

WIDTH = 560


def prediction(predicted):
    """The title, sentences, a time line of one device, and curves."""
    sentences = "".join(f"<li>{escape(s)}</li>" for s in predicted.sentences())
    title = f"<h4>{escape(predicted.title())}</h4>"
    parts = [f"{title}<ul>{sentences}</ul>", timeline(predicted)]
    if predicted.axes:
        parts.append(curves(predicted))
    return f"<div>{''.join(parts)}</div>"


def timeline(predicted):
    """Two lanes: computing above, messages below."""
    picture = Drawing()
    total = predicted.time or 1.0
    left = 70
    for lane, name in enumerate(("computes", "sends")):
        picture.words(left - 6, lane * 34 + 14, name, "end")
        picture.box(left, lane * 34, WIDTH, 28, "#f4f4f4", line="#ccc")
    for i, phase in enumerate(predicted.phases):
        lane = phase["kind"] == "communication"
        x = left + WIDTH * phase["start"] / total
        width = max(WIDTH * (phase["end"] - phase["start"]) / total, 0.5)
        duration = words.seconds(phase["end"] - phase["start"])
        title = f"{phase['what']}: {duration}, {words.lines(phase['lines'])}"
        picture.box(x, lane * 34, width, 28, colour(i), title)
    picture.words(left, 78, "0", "start", 11)
    picture.words(left + WIDTH, 78, words.seconds(predicted.time), "end", 11)
    return str(picture)


def curves(predicted):
    """Efficiency over the number of devices, for the same work on each device and in all."""
    picture = Drawing()
    left, height = 70, 120
    picture.box(left, 10, WIDTH, height, "#f9f9f9", line="#ccc")
    for y, name in ((0, "100%"), (height / 2, "50%"), (height, "0%")):
        picture.words(left - 6, 10 + y, name, "end", 11)
    for i, (kind, label) in enumerate(
        (("weak", "same work on each device"), ("strong", "same work in all"))
    ):
        rows = predicted.scaling(kind=kind)
        most = math.log2(rows[-1]["devices"] / rows[0]["devices"]) or 1
        points = []
        for row in rows:
            x = left + WIDTH * math.log2(row["devices"] / rows[0]["devices"]) / most
            y = 10 + height * (1 - min(row["efficiency"], 1.0))
            points.append(f"{x:g},{y:g}")
            if i == 0:
                picture.words(x, height + 22, row["devices"], size=11)
        stroke = ("#1f5fa8", "#b04a1f")[i]
        picture.parts.append(
            f"<polyline points='{' '.join(points)}' fill='none' stroke='{stroke}' "
            "stroke-width='2'/>"
        )
        picture.box(left + 200 * i, height + 36, 12, 12, stroke)
        picture.words(left + 200 * i + 18, height + 42, label, "start", 11)
    return str(picture)
