import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RightsTrace, TracedRight } from './rights-trace.ts'

/** One action a role has on one kind of resource, over all files of a run of tests. */
export interface RightUse {
  /** `run-block runs dynamodb:Query on table/sluice-dev`. */
  readonly name: string
  readonly who: string
  readonly policy: string
  readonly action: string
  readonly calls: number
}

export function readTraces(folder: string): readonly RightsTrace[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return names.sort().map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
}

/** Every right of code, with how often it allowed a call; stages of other settings have the same roles with more rights. */
export function rightUses(traces: readonly RightsTrace[]): readonly RightUse[] {
  const uses = new Map<string, RightUse>()
  for (const right of traces.flatMap(({ rights }) => rights)) {
    if (USED_BY_AWS.has(right.policy) || right.who.startsWith('Gateway')) continue
    const who = right.who.replace(/^sluice-dev-/, '')
    const name = `${who} ${right.policy} ${right.action} on ${kindOf(right)}`
    const { policy, action } = right
    uses.set(name, { name, who, policy, action, calls: (uses.get(name)?.calls ?? 0) + right.calls })
  }
  return [...uses.values()]
}

/** Lambda, X-Ray, KMS and Step Functions themselves use these: no call of a function is behind them. */
const USED_BY_AWS = new Set(['logs', 'traces', 'dead-letters', 'key'])

/** Without account, tenant and the name of a secret: stages differ in these. */
function kindOf({ on }: TracedRight): string {
  const [resource = ''] = on.split(/, | if /)
  const [, , service = '', , , ...name] = resource.split(':')
  if (service === 'secretsmanager' || service === 'ssm') return 'its secrets'
  return name.join(':').replace(/^([^/]+)\/[^/]+\/(objects|index)\//, '$1/<tenant>/$2/')
}

/**
 * What a whole run of tests says: rights that nothing used and no reason stands for, and reasons for what is used after
 * all. `known`: `who policy action`, or `* policy action` of a right that some use and others only seldom.
 */
export function rightsLeft(uses: readonly RightUse[], known: readonly string[]) {
  const unused = uses.filter(({ calls }) => calls === 0)
  const names = ({ who, policy, action }: RightUse) => [`${who} ${policy} ${action}`, `* ${policy} ${action}`]
  return {
    unused: unused.filter((right) => !names(right).some((name) => known.includes(name))).map(({ name }) => name),
    stale: known.filter((name) => !unused.some((right) => names(right).includes(name))),
  }
}
