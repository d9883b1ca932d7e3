# tests/array/test_pictures.py - arrays, meshes, shardings and collectives as notebooks show them.
import re
from xml.etree import ElementTree

import pytest
import shardax
import shardax.numpy as jnp
from shardax import debug, random
from shardax.sharding import AbstractMesh, NamedSharding
from shardax.sharding import PartitionSpec as P


def parsed(svg):
    root = ElementTree.fromstring(svg)
    name = "{http://www.w3.org/2000/svg}"
    boxes = [box for box in root.findall(f".//{name}rect") if not box.get("rx")]
    words = [text.text for text in root.findall(f".//{name}text")]
    return boxes, words, root


def fills(svg):
    return [box.get("fill") for box in parsed(svg)[0]]


@pytest.fixture(scope="module")
def mesh():
    return shardax.make_mesh((2, 4), ("data", "model"))


def test_mesh(mesh):
    boxes, words, root = parsed(mesh._repr_svg_())
    assert len(boxes) == 8
    assert words[:2] == ["model →", "data ↓"]
    assert words[2:] == [str(i) for i in range(8)]
    width, height = float(root.get("width")), float(root.get("height"))
    assert all(float(b.get("x")) + float(b.get("width")) <= width for b in boxes)
    assert all(float(b.get("y")) + float(b.get("height")) <= height for b in boxes)


def test_meshes_of_other_ranks():
    cube = shardax.make_mesh((2, 2, 2), ("a", "b", "c"))._repr_svg_()
    assert len(parsed(cube)[0]) == 8
    assert {"a = 0", "a = 1"} <= set(parsed(cube)[1])
    line = AbstractMesh((3,), ("x",))._repr_svg_()
    assert parsed(line)[1] == ["x →", "0", "1", "2"]
    assert parsed(AbstractMesh((), ())._repr_svg_())[1] == ["no devices"]
    large = AbstractMesh((64, 64), ("x", "y"))._repr_svg_()
    assert len(parsed(large)[0]) == 32 * 32 and "..." in parsed(large)[1]


def test_devices_with_the_same_part_have_the_same_colour(mesh):
    by_rows = fills(NamedSharding(mesh, P("data"))._repr_svg_())
    assert by_rows[:4] == by_rows[:1] * 4 and by_rows[4:] == by_rows[4:5] * 4
    assert by_rows[0] != by_rows[4]
    assert len(set(fills(NamedSharding(mesh, P(("model", "data")))._repr_svg_()))) == 8
    assert set(fills(NamedSharding(mesh, P())._repr_svg_())) == {"#ddd"}


def test_words_can_be_read_on_light_and_on_dark_pages(mesh):
    """Words beside boxes have the page's colour, or lie on a light background; in boxes, which
    have light colours, they are black."""
    alone = NamedSharding(mesh, P("data"))._repr_svg_()
    root = parsed(alone)[2]
    background = root[0]
    assert background.get("fill") == "#fff" and root.get("color") == "#222"
    assert background.get("width") == root.get("width")
    within = shardax.pmap(lambda x: x, axis_name="i")(jnp.ones((8, 2)))._repr_html_()
    told = shardax.explain(shardax.pmap(lambda x: x + 1, axis_name="i"))(jnp.arange(8.0))
    for page in (alone, within, told._repr_html_()):
        colours = re.findall(r"<text [^>]*fill='([^']+)'", page)
        assert len(colours) == page.count("<text ")
        assert set(colours) <= {"currentColor", "#000"}
    assert "#fff" not in within and "#222" not in within


def test_names_of_devices_lie_within_the_picture():
    for op in ("psum", "ppermute", "all_to_all"):
        root = parsed(debug.visualize_collective(op, 4).svg)[2]
        names = [t for t in root.iter() if (t.text or "").startswith("device ")]
        assert len(names) == 4
        assert min(float(t.get("x")) for t in names) >= 0.31 * 11 * len("device 0")


def test_axes_without_names_are_called_devices():
    x = shardax.pmap(lambda x: x)(jnp.ones((8, 2)))
    told = shardax.explain(shardax.pmap(lambda x: x + 1))(x)
    shown = [x._repr_html_(), x.sharding._repr_svg_(), told._repr_html_(), str(told)]
    shown.append(told.to_json())
    assert all("devices" in text and "_internal" not in text for text in shown)


def test_memory_over_the_steps_names_buffers_and_steps():
    step = shardax.pmap(lambda x: jnp.sin(x @ x.T) @ x, axis_name="i")
    told = shardax.explain(step)(jnp.arange(96.0).reshape(8, 4, 3))
    page = told._repr_html_()
    picture = re.search(r"Memory over the steps</h5>(<svg.*?</svg>)", page, re.S)[1]
    boxes, words, _ = parsed(picture)
    assert len(boxes) == len(told.buffers)
    for buffer in told.buffers:
        assert f"{buffer['kind']} {buffer['type']}" in words
    steps = [str(i) for i in range(len(told.steps))]
    assert words[words.index("step") + 1 :] == [*steps, "end"]


def test_lines_of_cells_are_named_as_kernels_number_them(monkeypatch):
    import sys
    import types

    from shardax._base.source_names import file_name

    names = {"/tmp/ipykernel_7/179660552.py": ("Cell", "In[3]")}
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(format_code_name=names.get))
    module = types.SimpleNamespace(get_ipython=lambda: shell)
    monkeypatch.setitem(sys.modules, "IPython", module)
    assert file_name("/tmp/ipykernel_7/179660552.py") == "cell 3"
    assert file_name("scripts/train.py") == "train.py"
    monkeypatch.setattr(module, "get_ipython", lambda: None)
    assert file_name("/tmp/ipykernel_7/179660552.py") == "179660552.py"


def cells(page):
    return re.findall(r"<td[^>]*>([^<]*)</td>", page)


def test_array(mesh):
    x = shardax.device_put(jnp.arange(8.0).reshape(2, 4), NamedSharding(mesh, P("data", "model")))
    page = x._repr_html_()
    assert "<b>Array</b> float32[2, 4]" in page
    assert "8 devices, P(&#x27;data&#x27;, &#x27;model&#x27;)" in page
    assert cells(page) == ["0", "1", "2", "3", "4", "5", "6", "7"]
    assert len(set(re.findall(r"<td style='background:([^']*)'", page))) == 8
    svg = page[page.index("<svg") : page.index("</svg>") + 6]
    assert parsed(svg)[1] == [str(i) for i in range(8)]


def test_parts_on_several_devices(mesh):
    x = shardax.device_put(jnp.zeros((4, 8, 2)), NamedSharding(mesh, P(None, "model")))
    page = x._repr_html_()
    svg = page[page.index("<svg") : page.index("</svg>") + 6]
    assert parsed(svg)[1] == ["0,4", "1,5", "2,6", "3,7"]
    assert "element [0, :, :] of (4, 8, 2)" in page


def test_arrays_on_one_device():
    page = jnp.arange(3)._repr_html_()
    assert "int32[3]" in page and "<svg" not in page and "style='background" not in page
    assert cells(jnp.array([True, False])._repr_html_()) == ["True", "False"]
    assert cells(jnp.array([1 + 2j, jnp.nan])._repr_html_())[0] == "1+2j"
    assert cells(jnp.float32(2.5)._repr_html_()) == ["2.5"]
    assert cells(jnp.ones((1, 2), "bfloat16")._repr_html_()) == ["1", "1"]
    assert cells(jnp.zeros((0, 3))._repr_html_()) == []
    assert "key&lt;fry&gt;" in random.key(0)._repr_html_()


def test_big_arrays_are_abbreviated(mesh):
    x = shardax.device_put(jnp.zeros((4096, 1000)), NamedSharding(mesh, P("data")))
    page = x._repr_html_()
    assert len(cells(page)) == 9 * 9 and len(page) < 20_000
    many = shardax.make_mesh((8,), ("i",))
    assert len(shardax.device_put(jnp.zeros(8), NamedSharding(many, P("i")))._repr_html_()) < 5000


def test_without_values():
    x = jnp.ones(3)
    x.delete()
    assert x._repr_html_() is None
    seen = []
    shardax.jit(lambda x: seen.append(x._repr_html_()))(1.0)
    assert seen == [None]


@pytest.mark.parametrize(
    "op, arrows, below",
    [
        ("psum", 9, ["Σ"] * 3),
        ("pmean", 9, ["mean"] * 3),
        ("all_gather", 9, ["x0", "x1", "x2"] * 3),
        ("psum_scatter", 9, ["Σ[0]", "Σ[1]", "Σ[2]"]),
        ("all_to_all", 9, [f"x{i}[{j}]" for j in range(3) for i in range(3)]),
        ("ppermute", 3, ["x2", "x0", "x1"]),
        ("pbroadcast", 3, ["x0"] * 3),
    ],
)
def test_collectives(op, arrows, below, tmp_path):
    picture = debug.visualize_collective(op, 3)
    boxes, words, root = parsed(picture._repr_svg_())
    assert words[-len(below) :] == below
    assert words[0] == f"{op} over 3 devices"
    paths = [p for p in root.iter() if p.tag.endswith("path") and p.get("marker-end")]
    assert len(paths) == arrows
    picture.save(tmp_path / "picture.svg")
    assert (tmp_path / "picture.svg").read_text(encoding="utf-8") == picture.svg


def test_ring_and_permutations():
    boxes, words, _ = parsed(debug.visualize_collective("ring", 5).svg)
    assert words == ["0", "1", "2", "3", "4"] and len(boxes) == 5
    picture = debug.visualize_collective("ppermute", 3, perm=[(0, 2)])
    assert parsed(picture.svg)[1][-3:] == ["0", "0", "x0"]
    assert repr(picture) == "Picture('ppermute over 3 devices')"


def test_collectives_are_checked():
    with pytest.raises(ValueError, match="there is no 'gossip'; it draws all_gather, all_to_all"):
        debug.visualize_collective("gossip")
    with pytest.raises(ValueError, match="1 devices; it draws 2 to 16"):
        debug.visualize_collective("psum", 1)
