/**
 * A hash that stands beside itself: the sha256 of a stored value, which its ref ends with, and the hash of a prompt that is
 * all there was to its parameters. In the file the second of the two is `"="`: they are half of what a block without a model
 * leaves there. Quotes inside a text are escaped in JSON, so that only members are met.
 */
const TWINS = [
  [
    /("ref":"objstore:\/\/[^"/]+\/([0-9a-f]{64})","sha256":)"\2"/g,
    /("ref":"objstore:\/\/[^"/]+\/([0-9a-f]{64})","sha256":)"="/g,
  ],
  [/("params_hash":"([0-9a-f]{64})","prompt_hash":)"\2"/g, /("params_hash":"([0-9a-f]{64})","prompt_hash":)"="/g],
] as const

/** JSON text as the file has it: with a space before it where a hash was left out, which JSON.stringify() never writes. */
export function withoutTwins(json: string): string {
  // Most texts have none: to look for a word is cheap.
  if (!json.includes('"sha256":"') && !json.includes('"prompt_hash":"')) return json
  if (json.includes(LEFT_OUT)) return json
  const short = TWINS.reduce((text, [twin]) => text.replace(twin, '$1"="'), json)
  return short.length === json.length ? json : ` ${short}`
}

/** The text it was made of. */
export function withTwins(stored: string): string {
  if (!stored.startsWith(' ')) return stored
  return TWINS.reduce((text, [, left]) => text.replace(left, '$1"$2"'), stored.slice(1))
}

const LEFT_OUT = '":"="'
