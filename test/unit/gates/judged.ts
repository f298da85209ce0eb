import type { GateUse } from '../../../shared/dag/dag.ts'
import type { GateFacts, Verdict } from '../../../shared/gates/gate.ts'
import type { GatePorts } from '../../../shared/gates/gate-ports.ts'
import { judgeGate } from '../../../shared/gates/judge.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import type { Json } from '../../../shared/text/json.ts'
import { inProcessIsolate } from './in-process-isolate.ts'

export const factsOf = (outputs: Readonly<Record<string, Json>>, more: Partial<GateFacts> = {}): GateFacts => ({
  inputs: {},
  outputs,
  measured: { cost_usd: null, latency_ms: null },
  ...more,
})

/** Parses a check as a document carries it and judges it: what a block does, without the block. */
export async function judged(
  check: Json,
  facts: GateFacts,
  use: Partial<GateUse> = {},
  ports: Partial<GatePorts> = {},
): Promise<Verdict> {
  const parsed = parseCheck(check)
  if (!parsed.ok) throw new Error(parsed.errors.map(({ message }) => message).join(' '))
  const gate: GateUse = { name: 'g', on_fail: 'retry', ...use, check: parsed.check }
  return judgeGate(gate, facts, { isolate: inProcessIsolate, ...ports }, () => 0)
}

/** The messages of a check that is refused at parse; none when it is accepted. */
export function refusals(check: unknown): readonly string[] {
  const parsed = parseCheck(check)
  return parsed.ok ? [] : parsed.errors.map(({ message }) => message)
}
