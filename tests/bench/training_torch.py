"""tests/bench/training_torch.py - the losses of training_models.py in PyTorch, of the same
parameters.
"""

import numpy as np
import torch
from torch.nn import functional as F


def mlp(model, params, x, y):
    for w, b in params[:-1]:
        x = torch.relu(torch.addmm(b, x, w))
    return F.cross_entropy(torch.addmm(params[-1][1], x, params[-1][0]), y)


def lenet(model, params, x, y):
    for (w, b), pad in zip(params[0], (2, 0)):
        x = F.max_pool2d(torch.relu(F.conv2d(x, w, b, padding=pad)), 2)
    return mlp(model, params[1], x.flatten(1), y)


def resnet(model, params, x, y):
    def conv(x, layer, stride=1):
        w, scale, shift = layer
        x = F.conv2d(x, w, stride=stride, padding=w.shape[2] // 2)
        return F.batch_norm(x, None, None, scale, shift, training=True)

    stem, blocks, (w, b) = params
    x = torch.relu(conv(x, stem))
    for first, second, short in blocks:
        stride = 1 if short is None else 2
        out = conv(torch.relu(conv(x, first, stride)), second)
        x = torch.relu(out + (x if short is None else conv(x, short, stride)))
    return F.cross_entropy(x.mean((2, 3)) @ w + b, y)


def transformer(model, params, x, y):
    embed, places, layers, last = params
    x = F.embedding(x, embed) + places
    n, t, f = x.shape
    for (qkv, out, up, down), (norm1, norm2) in layers:
        z = F.layer_norm(x, (f,), *norm1) @ qkv[0] + qkv[1]
        q, k, v = (p.reshape(n, t, model.heads, -1).transpose(1, 2) for p in z.chunk(3, -1))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + attended.transpose(1, 2).reshape(n, t, f) @ out[0] + out[1]
        hidden = F.gelu(F.layer_norm(x, (f,), *norm2) @ up[0] + up[1], approximate="tanh")
        x = x + hidden @ down[0] + down[1]
    return F.cross_entropy((F.layer_norm(x, (f,), *last) @ embed.T).flatten(0, 1), y.flatten())


def lstm(model, params, x, y):
    embed, wx, wh, b, out = params
    start = (torch.zeros(1, len(x), model.features),) * 2
    flat = [wx.T.contiguous(), wh.T.contiguous(), b, torch.zeros_like(b)]
    h = torch.lstm(F.embedding(x, embed), start, flat, True, 1, 0.0, True, False, True)[0]
    return F.cross_entropy((h @ out).flatten(0, 1), y.flatten())


def vae(model, params, x, noise):
    (w1, b1), (w2, b2), (w3, b3), (w4, b4) = params
    mean, logvar = (torch.relu(x @ w1 + b1) @ w2 + b2).chunk(2, -1)
    logits = torch.relu((mean + torch.exp(0.5 * logvar) * noise) @ w3 + b3) @ w4 + b4
    likelihood = F.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
    return (likelihood - 0.5 * (1 + logvar - mean**2 - logvar.exp()).sum(1)).mean()


LOSSES = {
    "MLP": mlp,
    "LeNet": lenet,
    "ResNet-18": resnet,
    "GPT-2, 4 layers": transformer,
    "LSTM": lstm,
    "VAE": vae,
}


def step_of(name, model, optimizer, dtype):
    """A function without arguments: one step of training, of bfloat16 by autocast."""
    leaves = []

    def tensors(tree):
        if isinstance(tree, np.ndarray):
            leaves.append(torch.tensor(tree, requires_grad=True))
            return leaves[-1]
        return None if tree is None else type(tree)(tensors(t) for t in tree)

    params = tensors(model.init())
    data = [
        torch.tensor(d, dtype=torch.int64 if d.dtype == np.int32 else None) for d in model.data()
    ]
    kinds = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam, "AdamW": torch.optim.AdamW}
    update = kinds[optimizer](leaves, lr=1e-3, foreach=True)

    def step():
        update.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=dtype == "bfloat16"):
            loss = LOSSES[name](model, params, *data)
        loss.backward()
        if optimizer == "AdamW":
            torch.nn.utils.clip_grad_norm_(leaves, 1, foreach=True)
        update.step()
        return loss.item()

    return step
