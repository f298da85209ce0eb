/** A shortcut as it is matched: `keys` is one key (`a`, `?`) or two typed after one another (`g r`). */
interface KeyBinding {
  readonly keys: string
}

export interface KeyMatch<B extends KeyBinding> {
  readonly found?: B
  /** The first key of a sequence whose second is awaited. */
  readonly pending?: string
}

/** What typing `key` means after `pending`; of several bindings of the same keys the one that came last wins. */
export function matchKey<B extends KeyBinding>(
  bindings: readonly B[],
  pending: string | undefined,
  key: string,
): KeyMatch<B> {
  const typed = pending === undefined ? key : `${pending} ${key}`
  const found = bindings.findLast(({ keys }) => keys === typed)
  if (found !== undefined) return { found }
  // A sequence that leads nowhere is forgotten, and its last key counts as a first one.
  if (pending !== undefined) return matchKey(bindings, undefined, key)
  return bindings.some(({ keys }) => keys.startsWith(`${key} `)) ? { pending: key } : {}
}

/** Each keys once, as the dialog lists them: what came last is what works. */
export function listedKeys<B extends KeyBinding>(bindings: readonly B[]): readonly B[] {
  return [...new Map(bindings.map((binding) => [binding.keys, binding])).values()]
}
