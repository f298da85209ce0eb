import { listOf, type Policies, type Statement, type Wish } from './iam-policy.ts'
import { readTraces } from './unused-rights.ts'

/** A call that a deployed function made, and the right that allowed it. */
export interface Call {
  readonly who: string
  readonly policy: string
  readonly wish: Wish
}

/** The first call of each action of each statement, once, as tenant `main` makes it. */
export function recordedCalls(folder: string): readonly Call[] {
  const calls = readTraces(folder).flatMap(({ rights }) =>
    rights.flatMap(({ who, policy, wish }) => (wish === undefined ? [] : [{ who, policy, wish: ofMain(wish) }])),
  )
  return [...new Map(calls.map((call) => [JSON.stringify(call), call])).values()]
}

/** Other stages have other tenants. */
function ofMain({ resource, leadingKeys, ...wish }: Wish): Wish {
  return {
    ...wish,
    resource: resource.replace(/^(arn:aws:s3:::[^/]+)\/[^/]+\/(objects|index)\//, '$1/main/$2/'),
    ...(leadingKeys === undefined ? {} : { leadingKeys: leadingKeys.map((key) => key.replace(/^T#[^#]+/, 'T#main')) }),
  }
}

/** One call for each action and resource of every statement, where a star stands for a name: what a stage may do at all. */
export function callsAllowed(policies: Policies): readonly Call[] {
  return policies.all.flatMap(({ who, policy, statement: { Action, Resource, Condition = {} } }) =>
    listOf(Action).flatMap((action) =>
      listOf(Resource).map((resource) => ({
        who,
        policy,
        wish: { action, resource: named(resource), ...told(Condition) },
      })),
    ),
  )
}

const named = (pattern: string) => pattern.replaceAll('*', 'x')

/** What conditions ask for, the first value of each. */
function told(condition: NonNullable<Statement['Condition']>): Omit<Wish, 'action' | 'resource'> {
  const first = (key: string) =>
    Object.values(condition)
      .flatMap((keys) => listOf(keys[key] ?? []))
      .map(named)[0]
  const [key, passedTo, source, cluster] = [
    first('dynamodb:LeadingKeys'),
    first('iam:PassedToService'),
    first('events:source'),
    first('ecs:cluster'),
  ]
  return {
    ...(key === undefined ? {} : { leadingKeys: [key] }),
    ...(passedTo === undefined ? {} : { passedTo }),
    ...(source === undefined ? {} : { source }),
    ...(cluster === undefined ? {} : { cluster }),
  }
}

/** Of what only the settings name: what another stage names is another thing. */
const BY_SETTINGS =
  /^(secrets|models|research|embeddings|judge|services|mcp|webhooks|telemetry|slack|buses|hooks|steps|containers|native|shell)\b|secret|calls$/

/** Those a stage has a right of the same name for. */
export function known(policies: Policies, calls: readonly Call[]): readonly Call[] {
  const rights = new Set(policies.all.map(({ who, policy }) => `${who} ${policy}`))
  return calls.filter(({ who, policy }) => rights.has(`${who} ${policy}`) && !BY_SETTINGS.test(policy))
}

export const words = ({ who, policy, wish }: Call) =>
  `${who} ${policy}: ${wish.action} on ${wish.resource} ${(wish.leadingKeys ?? []).join(' ')}`

/** The same, asked of what is another's. */
export function strange({ leadingKeys, ...wish }: Wish): readonly Wish[] {
  const other = { ...wish, resource: wish.resource.replaceAll('sluice-dev', 'sluice-other') }
  const keys = (leadingKeys ?? []).filter((key) => key.startsWith('T#main'))
  const items = keys.map((key) => ({ ...wish, leadingKeys: [key.replace('T#main', 'T#stranger')] }))
  const isOfIndex = wish.resource.includes('/index/')
  return [...(other.resource === wish.resource ? [] : [other]), ...(isOfIndex ? [] : items)]
}
