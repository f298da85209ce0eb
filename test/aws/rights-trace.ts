import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Granted, listOf, type Policies, type Wish } from './iam-policy.ts'

/** One action of one statement, as a file of tests used it. */
export interface TracedRight {
  readonly who: string
  readonly policy: string
  readonly at: number
  readonly action: string
  /** As the policy says it. */
  readonly on: string
  /** How often it allowed a call; 0 = never. A call that two statements allow counts in both. */
  readonly calls: number
  /** What the first of these calls named. */
  readonly first?: string
  /** That call, as policies are asked about it. */
  readonly wish?: Wish
}

/** What is written for one file of tests. */
export interface RightsTrace {
  readonly file: string
  readonly rights: readonly TracedRight[]
  /** `who: action on resource`. */
  readonly denied: readonly string[]
}

/** Where traces of a test run lie: a folder of its own, or one that is named, which gathers those of several runs. */
export function tracesFolder(): string {
  const { SLUICE_TEST_RIGHTS: named, SLUICE_TEST_SHARED: shared } = process.env
  if (named !== undefined) return named
  if (shared === undefined) throw new Error('no folder is shared: the global setup shared-folder.ts did not run')
  return join(shared, 'rights')
}

/** Asks policies, and remembers which statements allowed what and what was refused. */
export function traceRights(policies: Policies) {
  const used = new Map<string, { calls: number; readonly first: string; readonly wish: Wish }>()
  const denied: string[] = []
  return {
    denied: denied as readonly string[],
    /** Whether the caller may. */
    allows(principal: string, wish: Wish): boolean {
      const granted = policies.grants(principal, wish)
      for (const one of granted) {
        const key = keyOf(one, wish.action)
        const known = used.get(key) ?? { calls: 0, first: wish.resource, wish }
        used.set(key, { ...known, calls: known.calls + 1 })
      }
      if (granted.length === 0) denied.push(`${principal}: ${wish.action} on ${wish.resource}`)
      return granted.length > 0
    },
    /** Under the name of the file of tests that is running. */
    save(): void {
      const { testPath = '' } = expect.getState()
      const file = testPath.split('/').at(-1) ?? ''
      const rights = policies.all.flatMap((granted) =>
        listOf(granted.statement.Action).map((action) => ({
          ...{ who: granted.who, policy: granted.policy, at: granted.at, action },
          on: onOf(granted),
          ...(used.get(keyOf(granted, action)) ?? { calls: 0 }),
        })),
      )
      const trace: RightsTrace = { file, rights, denied }
      mkdirSync(tracesFolder(), { recursive: true })
      writeFileSync(join(tracesFolder(), `${file}.json`), JSON.stringify(trace))
    },
  }
}

function keyOf({ who, policy, at }: Granted, action: string): string {
  return JSON.stringify([who, policy, at, action])
}

function onOf({ statement: { Resource, Condition } }: Granted): string {
  const resource = listOf(Resource).join(', ')
  return Condition === undefined ? resource : `${resource} if ${JSON.stringify(Condition)}`
}
