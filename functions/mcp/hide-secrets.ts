/** A shorter secret is a word that a text may hold by chance. */
const SHORTEST = 8

/** A server that sends back what it was given must not put it into a record: not into texts, and not into names of members. */
export function withoutSecrets<T>(value: T, secrets: readonly string[]): T {
  const long = secrets.filter((secret) => secret.length >= SHORTEST)
  // Texts are replaced by texts: it stays what it is.
  return long.length === 0 ? value : (hidden(value, long) as T)
}

function hidden(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return secrets.reduce((text, secret) => text.replaceAll(secret, '[key]'), value)
  if (Array.isArray(value)) return value.map((item) => hidden(item, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [hidden(key, secrets), hidden(item, secrets)]))
}
