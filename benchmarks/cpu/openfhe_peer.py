"""A process that times OpenFHE's operations on request; it needs the package `openfhe` and nothing of this project.

    python openfhe_peer.py RING_DEGREE LIMBS PRIME_BITS DIGITS

Each line of its input is the name of a row and a number of runs; each answer is a line of JSON with their seconds, on
the clock and of the processors.
The first line that it writes says what it measures, or why it cannot.
"""

import json
import sys
import time


def main():
    degree, limbs, bits, digits = (int(word) for word in sys.argv[1:5])
    try:
        import openfhe as fhe
    except Exception as error:  # an extension for another Python fails in many ways
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
        return
    parameters = fhe.CCParamsCKKSRNS()
    parameters.SetMultiplicativeDepth(limbs - 1)
    parameters.SetScalingModSize(bits)
    parameters.SetFirstModSize(bits)
    parameters.SetScalingTechnique(fhe.ScalingTechnique.FIXEDMANUAL)
    parameters.SetSecurityLevel(fhe.SecurityLevel.HEStd_NotSet)
    parameters.SetRingDim(degree)
    parameters.SetBatchSize(degree // 2)
    parameters.SetKeySwitchTechnique(fhe.KeySwitchTechnique.HYBRID)
    parameters.SetNumLargeDigits(digits)
    context = fhe.GenCryptoContext(parameters)
    for feature in ("PKE", "KEYSWITCH", "LEVELEDSHE"):
        context.Enable(getattr(fhe.PKESchemeFeature, feature))
    keys = context.KeyGen()
    context.EvalMultKeyGen(keys.secretKey)
    context.EvalRotateKeyGen(keys.secretKey, [1])
    plain = context.MakeCKKSPackedPlaintext([0.5] * (degree // 2))
    x, y = (context.Encrypt(keys.publicKey, plain) for _ in range(2))
    actions = {
        "multiply": lambda: context.Rescale(context.EvalMult(x, y)),
        "rotate": lambda: context.EvalRotate(x, 1),
        "rescale": lambda: context.Rescale(x),
        "ct-pt": lambda: context.EvalMult(x, plain),
        "add": lambda: context.EvalAdd(x, y),
    }
    print(json.dumps({"rows": sorted(actions)}), flush=True)
    for line in sys.stdin:
        name, runs = line.split()
        times = []
        for _ in range(int(runs)):
            start, used = time.perf_counter(), time.process_time()
            actions[name]()
            times.append((time.perf_counter() - start, time.process_time() - used))
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
