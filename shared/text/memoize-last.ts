/** Remembers what `make` answered for the last `size` texts: things compiled at parse and again for each verdict. */
export function memoizeLast<T>(size: number, make: (text: string) => T): (text: string) => T {
  const kept = new Map<string, T>()
  return (text) => {
    const known = kept.get(text)
    if (known !== undefined) return known
    const fresh = make(text)
    const oldest = kept.size >= size ? kept.keys().next().value : undefined
    if (oldest !== undefined) kept.delete(oldest)
    kept.set(text, fresh)
    return fresh
  }
}
