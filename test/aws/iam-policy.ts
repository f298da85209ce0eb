import { ACCOUNT, REGION } from '../emulators/aws-client.ts'
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
  /** ARN of the function whose code asks; Lambda itself, that joins a network for it, tells none. */
  readonly byCodeOf?: string | undefined
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
  /** Everything that is granted in the templates: statements that allow. */
  readonly all: readonly Granted[]
  /**
   * What allows it, nothing = refused, as one Deny is enough to: the inline policies of the caller's role and nothing else.
   * Principals are function names; a machine is the ARN of its role.
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
  const functions = new Set(owners.values())
  return {
    all: all.filter(({ statement }) => statement.Effect === 'Allow'),
    grants(principal, given) {
      const name = nameIn(principal)
      const own = byOwner.get(name) ?? []
      const byCodeOf = functions.has(name) ? { byCodeOf: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${name}` } : {}
      const wish = { ...byCodeOf, ...given }
      if (own.some(({ statement }) => statement.Effect === 'Deny' && matches(statement, wish))) return []
      return own.filter(({ statement }) => allows(statement, wish))
    },
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

/** Whether a statement grants it: not, whether another one denies it. */
export function allows(statement: Statement, wish: Wish): boolean {
  if (statement.Effect === 'Deny') return false
  if (statement.Effect !== 'Allow') throw new Error(`a policy with effect ${statement.Effect}`)
  return matches(statement, wish)
}

/**
 * Whether a statement is about it. AWS documents dynamodb:LeadingKeys of tables and says nothing of indexes: what is asked of
 * an index is allowed only if it is with the key in the request and without.
 */
function matches({ Effect, Action, Resource, Condition = {} }: Statement, wish: Wish): boolean {
  if (!listOf(Action).some((pattern) => fits(pattern, wish.action))) return false
  if (!listOf(Resource).some((pattern) => fits(pattern, wish.resource))) return false
  const context = contextOf(wish)
  const { 'dynamodb:LeadingKeys': _, ...untold } = context
  const contexts = wish.resource.includes('/index/') ? [context, untold] : [context]
  const judged = contexts.map((one) => conditionsHold(Condition, one))
  return Effect === 'Deny' ? judged.includes(true) : !judged.includes(false)
}

/** Keys of conditions as a request has them; what it has none of is not there. */
type Context = Readonly<Record<string, readonly string[]>>

function contextOf({ leadingKeys, passedTo, source, cluster, byCodeOf }: Wish): Context {
  const told = {
    'dynamodb:LeadingKeys': leadingKeys,
    'iam:PassedToService': passedTo,
    'events:source': source,
    'ecs:cluster': cluster,
    'lambda:SourceFunctionArn': byCodeOf,
  }
  return Object.fromEntries(
    Object.entries(told).flatMap(([key, value]) => (value === undefined ? [] : [[key, listOf(value)]])),
  )
}

/** Every operator and every key of a condition must hold. Source: IAM User Guide, "Policy evaluation logic". */
function conditionsHold(condition: NonNullable<Statement['Condition']>, context: Context): boolean {
  return Object.entries(condition).every(([operator, keys]) =>
    Object.entries(keys).every(([key, values]) => holds(operator, listOf(values), context[key])),
  )
}

/**
 * IAM User Guide, "IAM JSON policy elements: Condition operators": one value of the list is enough, of a negated operator none
 * may fit. A key that the request has not makes an operator false, a negated one true, `..IfExists` true; `ForAllValues` is
 * true of no values, `ForAnyValue` is not.
 */
function holds(operator: string, values: readonly string[], asked: readonly string[] | undefined): boolean {
  const [, set, name = '', ifExists] = /^(ForAllValues:|ForAnyValue:)?(\w+?)(IfExists)?$/.exec(operator) ?? []
  if (name === 'Null') return values.includes(String(asked === undefined))
  const test = OPERATORS[name]
  if (test === undefined) throw new Error(`a policy with the operator ${operator}, which this reader does not know`)
  if (asked === undefined) {
    return ifExists !== undefined || set === 'ForAllValues:' || (set === undefined && test.negated)
  }
  const fitting = (value: string) => values.some((pattern) => test.fits(pattern, value)) !== test.negated
  return set === 'ForAnyValue:' ? asked.some(fitting) : asked.every(fitting)
}

const equal = (pattern: string, value: string) => pattern === value
const OPERATORS: Readonly<
  Record<string, { readonly negated: boolean; readonly fits: (pattern: string, value: string) => boolean }>
> = {
  StringEquals: { negated: false, fits: equal },
  StringNotEquals: { negated: true, fits: equal },
  StringLike: { negated: false, fits },
  StringNotLike: { negated: true, fits },
  // Of ARNs both read stars.
  ArnEquals: { negated: false, fits },
  ArnLike: { negated: false, fits },
  ArnNotEquals: { negated: true, fits },
  ArnNotLike: { negated: true, fits },
  Bool: { negated: false, fits: equal },
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
