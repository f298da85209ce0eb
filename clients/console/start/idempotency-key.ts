/** The same key for the same request, another one for another: a second click starts no second run. */
export function requestKeys(random: () => string): (body: unknown) => string {
  const keys = new Map<string, string>()
  return (body) => {
    const text = JSON.stringify(body)
    const key = keys.get(text) ?? random()
    keys.set(text, key)
    return key
  }
}

/** 128 bits; randomUUID is only there on pages of https and of this machine. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
