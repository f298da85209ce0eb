import canonicalize from 'canonicalize'

/** A JSON value: what travels between blocks and what is hashed. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** RFC 8785 text of a JSON value: keys sorted, one spelling per number. `undefined` members are left out. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('canonicalJson() needs a JSON value, got undefined')
  return text
}
