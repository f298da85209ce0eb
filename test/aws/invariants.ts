import { parseDag } from '../../shared/document/parse.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { brokenInvariants } from '../integration/check-invariants.ts'

/** What is wrong with the events of an ended run of this document (docs/invariants.md); empty = nothing. */
export function problemsOf(events: readonly RunEvent[], document: string): readonly string[] {
  const parsed = parseDag(document, { name: 'checked', providers: ['local'] })
  return parsed.ok ? brokenInvariants(events, parsed.dag) : parsed.errors.map(({ message }) => message)
}
