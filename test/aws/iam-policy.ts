import type { DeployedTemplates } from './template.ts'

/** One thing somebody wants to do. `leadingKeys`: hash keys of the items; `passedTo`: the service that gets a role. */
export interface Wish {
  readonly action: string
  readonly resource: string
  readonly leadingKeys?: readonly string[]
  readonly passedTo?: string
}

interface Statement {
  readonly Effect: string
  readonly Action: string | readonly string[]
  readonly Resource: string | readonly string[]
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, string | readonly string[]>>>>
}

/** Whether the role of a function, or of the machines, allows it: by the inline policies of the template, nothing else. */
export type Allows = (principal: string, wish: Wish) => boolean

/** Principals are function names; a machine is the ARN of its role. */
export function readPolicies(templates: DeployedTemplates): Allows {
  const roles = new Map(
    templates
      .all('AWS::IAM::Role')
      .map(({ id, properties }) => [String(properties.RoleName ?? id), statementsOf(properties)]),
  )
  const roleOf = new Map(
    templates.all('AWS::Lambda::Function').map(({ properties }) => [properties.FunctionName, String(properties.Role)]),
  )
  return (principal, wish) => {
    const role = roleOf.get(principal) ?? principal
    const statements = roles.get(role.split('/').at(-1) ?? '') ?? []
    return statements.some((statement) => allows(statement, wish))
  }
}

function statementsOf({ Policies = [] }: Readonly<Record<string, unknown>>): readonly Statement[] {
  const policies = Policies as readonly { readonly PolicyDocument: { readonly Statement: readonly Statement[] } }[]
  return policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
}

function allows({ Effect, Action, Resource, Condition = {} }: Statement, wish: Wish): boolean {
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
  if (operator === 'ForAllValues:StringEquals' && key === 'dynamodb:LeadingKeys') {
    return (wish.leadingKeys ?? []).every((value) => values.includes(value))
  }
  if (operator === 'ForAllValues:StringLike' && key === 'dynamodb:LeadingKeys') {
    return (wish.leadingKeys ?? []).every((value) => values.some((pattern) => fits(pattern, value)))
  }
  if (operator === 'StringEquals' && key === 'iam:PassedToService') return values.includes(wish.passedTo ?? '')
  throw new Error(`a policy with condition ${operator} ${key}, which this reader does not know`)
}

function listOf(value: string | readonly string[]): readonly string[] {
  return typeof value === 'string' ? [value] : value
}

function fits(pattern: string, value: string): boolean {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, (sign) => `\\${sign}`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${source}$`).test(value)
}
