import { canonicalJson, type Json } from '../canonical.ts'
import type { CheckResult, GateFacts } from './gate.ts'
import { readPort, wrongType } from './read-port.ts'

/** The text of a port, or the answer of a check that cannot read it: another type, or more bytes than it reads. */
export function readText(
  facts: GateFacts,
  port: string,
  most: number,
): { readonly text: string } | { readonly unfit: CheckResult } {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return { unfit: wrongType(port, 'text', text) }
  const bytes = text.length > most ? text.length : Buffer.byteLength(text)
  return bytes > most ? { unfit: tooLarge(port, most) } : { text }
}

/** The answer of a check whose port holds more than it reads: refused, not cut. */
export function tooLarge(port: string, most: number): CheckResult {
  const reason = `port ${port} must have at most ${most} bytes of text, has more`
  return { passed: false, unfit: true, reason, facts: { port, most } }
}

/**
 * The facts in which a port that holds no text has its canonical JSON text: how gates named port_.. look at it. `empty` is
 * the text of a list or object without members, where that is another one.
 */
export function withPortText(facts: GateFacts, port: string, empty?: string): GateFacts {
  const text = canonicalText(readPort(facts, port) ?? null, empty)
  return text === undefined ? facts : { ...facts, outputs: { ...facts.outputs, [port]: text } }
}

/** undefined: it is a text, is missing, or holds what is no JSON (NaN), and stays what it is. */
function canonicalText(value: Json, empty?: string): string | undefined {
  if (value === null || typeof value === 'string') return undefined
  if (empty !== undefined && typeof value === 'object' && Object.keys(value).length === 0) return empty
  try {
    return canonicalJson(value)
  } catch {
    return undefined
  }
}
