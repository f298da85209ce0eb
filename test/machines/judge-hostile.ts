import { limitedRequest } from '../../functions/gates/net-gate.ts'
import type { GateFacts } from '../../shared/gates/gate.ts'
import { judgeGate } from '../../shared/gates/judge.ts'
import { parseCheck } from '../../shared/gates/parse-check.ts'
import { findGate, gateTypes } from '../../shared/gates/registry.ts'
import type { Isolate } from '../../shared/ports/isolate.ts'
import type { Json } from '../../shared/text/json.ts'
import { HOSTILE_ADDRESSES } from './hostile-addresses.ts'
import { HOSTILE_CHECKS, type HostileCheck } from './hostile-checks.ts'
import { type HostileSize, type HostileValue, hostileValues } from './hostile-values.ts'

export interface HostileAnswer {
  readonly status: 'refused' | 'passed' | 'failed' | 'error' | 'waived'
  readonly reason: string
  readonly ms: number
  /** What this thread computed for it; the isolate has a limit of its own. */
  readonly own_ms: number
}

const POLICY = { ports: [], deny_hosts: [], loopback: false, own_port: 4040 }

/** Each hostile check with its answer. The http gate runs as net-gate does, name server apart. */
export async function judgeHostileChecks(isolate: Isolate) {
  const answers: { readonly row: HostileCheck; readonly answer: HostileAnswer }[] = []
  for (const row of [...HOSTILE_CHECKS, ...HOSTILE_ADDRESSES]) {
    const outputs = row.port === undefined ? {} : { a: row.port }
    answers.push({ row, answer: await judge(row.check, { outputs }, isolate, row.addresses) })
  }
  return answers
}

/**
 * Each hostile value in every port that the first passing example of each gate type reads, and as what was measured;
 * a gate added to the registry is in it from then on.
 */
export async function judgeHostileValues(isolate: Isolate, size: HostileSize, types = gateTypes()) {
  const answers: { readonly type: string; readonly given: HostileValue; readonly answer: HostileAnswer }[] = []
  for (const given of hostileValues(size)) {
    for (const type of types) {
      const facts = { outputs: outputsOf(type, given), measured: given.value }
      answers.push({ type, given, answer: await judge(exampleOf(type), facts, isolate) })
    }
  }
  return answers
}

function exampleOf(type: string): Json {
  const example = findGate(type)?.examples.find(({ passes }) => passes) ?? findGate(type)?.examples[0]
  return { ...example?.check, type }
}

function portsOf(type: string): readonly string[] {
  const parsed = parseCheck(exampleOf(type))
  if (!parsed.ok) throw new Error(`the example of ${type} does not parse`)
  const { type: _, ...params } = parsed.check
  return findGate(type)?.reads(params) ?? []
}

function outputsOf(type: string, { value }: HostileValue): Readonly<Record<string, Json>> {
  return value === undefined ? {} : Object.fromEntries(portsOf(type).map((port) => [port, value]))
}

interface Given {
  readonly outputs: GateFacts['outputs']
  readonly measured?: Json | undefined
}

async function judge(
  check: Json,
  { outputs, measured }: Given,
  isolate: Isolate,
  addresses: readonly string[] = [],
): Promise<HostileAnswer> {
  const [started, used] = [performance.now(), process.threadCpuUsage()]
  const took = () => {
    const { user, system } = process.threadCpuUsage(used)
    return { ms: performance.now() - started, own_ms: (user + system) / 1_000 }
  }
  const parsed = parseCheck(check)
  if (!parsed.ok) {
    const { message, hint } = parsed.errors[0] ?? { message: '' }
    return { status: 'refused', reason: [message, hint].join(' ').trim(), ...took() }
  }
  const number = typeof measured === 'number' ? measured : null
  const facts = { inputs: {}, outputs, measured: { cost_usd: number, latency_ms: number } }
  const http = {
    request: (request: Parameters<typeof limitedRequest>[0]) =>
      limitedRequest(request, { policy: POLICY, resolve: async () => addresses }),
  }
  const use = { name: 'hostile', check: parsed.check, on_fail: 'retry' } as const
  const { status, reason } = await judgeGate(use, facts, { isolate, http }, () => 0)
  return { status, reason, ...took() }
}
