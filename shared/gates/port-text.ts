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
