/** What a payload is refused for; the codes are explained in docs/errors.md. */
export type PayloadErrorCode =
  | 'field_required'
  | 'field_type'
  | 'field_blank'
  | 'field_value'
  | 'field_range'
  | 'wrong_action'

/** `path` names the place as it is written in JavaScript: `candidates[1].tier`; `""` is the whole payload. */
export interface PayloadError {
  readonly code: string
  readonly path: string
  readonly message: string
}

/** `told` goes on after the place: `"topic" must be text`. */
export function payloadError(code: PayloadErrorCode, path: string, told: string): PayloadError {
  return { code, path, message: `${path === '' ? 'The payload' : JSON.stringify(path)} ${told}.` }
}

/** The place of a member: keys that are no plain names stand in quotes. */
export function joinPath(parts: readonly PropertyKey[]): string {
  return parts.reduce<string>((path, part) => {
    if (typeof part === 'number') return `${path}[${part}]`
    const name = String(part)
    if (!/^[A-Za-z_][A-Za-z0-9_-]{0,99}$/.test(name)) return `${path}[${JSON.stringify(name.slice(0, 100))}]`
    return path === '' ? name : `${path}.${name}`
  }, '')
}
