import type { Deployed, DeployedTemplates } from './template.ts'

/** One thing somebody wants to do. `leadingKeys`: hash keys of the items; `passedTo`: the service that gets a role. */
export interface Wish {
  readonly action: string
  readonly resource: string
  readonly leadingKeys?: readonly string[]
  readonly passedTo?: string
  /** `source` of an event that is put on a bus. */
  readonly source?: string
  /** The cluster whose task it is about. */
  readonly cluster?: string
}

export interface Statement {
  readonly Effect: string
  readonly Action: string | readonly string[]
  readonly Resource: string | readonly string[]
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>
}

/** A statement of a role, by where it stands in the template. */
export interface Granted {
  /** The function's name; of another role its own. */
  readonly who: string
  /** The policy's name: a right of infra/aws/grants.ts, or what else the role is for. */
  readonly policy: string
  /** Of the policy's statements, from 0. */
  readonly at: number
  readonly statement: Statement
}

export interface Policies {
  /** Everything that is granted in the templates. */
  readonly all: readonly Granted[]
  /**
   * What allows it, nothing = refused: the inline policies of the caller's role and nothing else. Principals are function
   * names; a machine is the ARN of its role.
   */
  grants(principal: string, wish: Wish): readonly Granted[]
}

export function readPolicies(templates: DeployedTemplates): Policies {
  const owners = new Map(
    templates
      .all('AWS::Lambda::Function')
      .map(({ properties }) => [nameIn(String(properties.Role)), String(properties.FunctionName)]),
  )
  const all = templates.all('AWS::IAM::Role').flatMap((resource) => {
    const name = String(resource.properties.RoleName ?? resource.id)
    return grantedBy(owners.get(name) ?? name, resource)
  })
  const byOwner = Map.groupBy(all, ({ who }) => who)
  return {
    all,
    grants: (principal, wish) =>
      (byOwner.get(nameIn(principal)) ?? []).filter(({ statement }) => allows(statement, wish)),
  }
}

/** `arn:aws:iam::A:role/NAME` -> NAME. */
function nameIn(arn: string): string {
  return arn.split('/').at(-1) ?? ''
}

function grantedBy(who: string, { properties: { Policies = [] } }: Deployed): readonly Granted[] {
  const policies = Policies as readonly {
    readonly PolicyName: string
    readonly PolicyDocument: { readonly Statement: readonly Statement[] }
  }[]
  return policies.flatMap(({ PolicyName, PolicyDocument }) =>
    PolicyDocument.Statement.map((statement, at) => ({ who, policy: PolicyName, at, statement })),
  )
}

export function allows({ Effect, Action, Resource, Condition = {} }: Statement, wish: Wish): boolean {
  if (Effect !== 'Allow') throw new Error('a policy with Deny, which this reader does not know')
  return (
    listOf(Action).some((pattern) => fits(pattern, wish.action)) &&
    listOf(Resource).some((pattern) => fits(pattern, wish.resource)) &&
    Object.entries(Condition).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => holds(operator, key, listOf(values), wish)),
    )
  )
}

function holds(operator: string, key: string, values: readonly string[], wish: Wish): boolean {
  const condition = CONDITIONS[`${operator} ${key}`]
  if (condition === undefined)
    throw new Error(`a policy with condition ${operator} ${key}, which this reader does not know`)
  return condition(values, wish)
}

const CONDITIONS: Readonly<Record<string, (values: readonly string[], wish: Wish) => boolean>> = {
  'ForAllValues:StringEquals dynamodb:LeadingKeys': (values, { leadingKeys = [] }) =>
    leadingKeys.every((value) => values.includes(value)),
  'ForAllValues:StringLike dynamodb:LeadingKeys': (values, { leadingKeys = [] }) =>
    leadingKeys.every((value) => values.some((pattern) => fits(pattern, value))),
  'StringEquals iam:PassedToService': (values, { passedTo = '' }) => values.includes(passedTo),
  'StringEquals events:source': (values, { source = '' }) => values.includes(source),
  'ArnEquals ecs:cluster': (values, { cluster = '' }) => values.includes(cluster),
}

export function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

function fits(pattern: string, value: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, (sign) => `\\${sign}`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`).test(value)
}
