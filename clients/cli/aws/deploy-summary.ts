import { PRICES } from '../../../shared/plan/aws-prices.ts'
import { type IdleCost, idleCost, type TemplateResource } from '../../../shared/plan/idle-cost.ts'
import { count } from '../terminal/format.ts'

/** Templates of a synthesis, by stack. */
export type Templates = Readonly<Record<string, Readonly<Record<string, TemplateResource>>>>

/** What a deployment makes, may do and costs idle, as lines for people: all of it read in the templates that are deployed. */
export function deploySummary(templates: Templates): readonly string[] {
  const resources = allResources(templates)
  return [
    'Stacks',
    ...Object.entries(templates).map(
      ([name, all]) => `  ${name.padEnd(WIDTH)}${count(Object.keys(all).length, 'resource')}`,
    ),
    '',
    ...permissionLines(resources),
    '',
    ...idleLines(idleCost(resources, PRICES)),
  ]
}

/** As the settings grant it, or as it is made from them; `conditions` as in IAM. */
interface Grant {
  readonly actions: readonly string[]
  readonly resources: readonly string[]
  readonly conditions?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly reason?: string
}

/** What is deployed of the project itself, as its stack tells it (infra/aws/build-app.ts); absent = none. */
export interface DeployedProject {
  readonly steps?: readonly { readonly name: string; readonly grants: readonly Grant[] }[]
  readonly containers?: readonly {
    readonly name: string
    readonly image: string
    readonly public_ip: boolean
    /** Of its tasks: one a tenant. */
    readonly roles: number
    readonly grants: readonly Grant[]
  }[]
  /** What documents have AWS do, and what the role of the machines may do for it. */
  readonly calls?: { readonly calls: readonly string[]; readonly grants: readonly Grant[] }
}

/** What code of the project, containers and calls of AWS may do. */
export function projectLines({ steps = [], containers = [], calls }: DeployedProject): readonly string[] {
  return [
    ...section(
      `Steps: ${count(steps.length, 'function')} of the project, and what the settings grant each`,
      steps.flatMap(({ name, grants }) => grantedTo(name, grants)),
    ),
    ...section(
      `Containers: ${count(containers.length, 'task')} of Fargate, and what the settings grant each besides its own files`,
      containers.flatMap(({ name, image, public_ip, roles, grants }) => [
        `  ${name}: ${image}, ${count(roles, 'role')}${public_ip ? ', with a public address' : ''}`,
        ...grantedTo(name, grants),
      ]),
    ),
    ...section(
      `Calls that machines make themselves: ${calls?.calls.join('; ')}. For them their role may`,
      (calls?.grants ?? []).map((grant) => `  ${grantWords(grant)}`),
    ),
  ]
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', title, ...lines]
}

function grantedTo(name: string, grants: readonly Grant[]): readonly string[] {
  return grants.length === 0 ? [`  ${name}: nothing`] : grants.map((grant) => `  ${name}: ${grantWords(grant)}`)
}

function grantWords({ actions, resources, conditions = {}, reason }: Grant): string {
  const only = Object.values(conditions).flatMap((of) => Object.entries(of).map(([key, value]) => `${key} is ${value}`))
  const narrowed = only.length === 0 ? '' : ` where ${only.join(' and ')}`
  return `${actions.join(', ')} on ${resources.join(', ')}${narrowed}${reason === undefined ? '' : ` (${reason})`}`
}

export function allResources(templates: Templates): Readonly<Record<string, TemplateResource>> {
  return Object.assign({}, ...Object.values(templates))
}

const WIDTH = 18

interface Statement {
  readonly Action: string | readonly string[]
  readonly Resource: unknown
}

/** By service: how many roles may do something there, and what. */
function permissionLines(resources: Readonly<Record<string, TemplateResource>>): readonly string[] {
  const roles = Object.values(resources).filter(({ Type }) => Type === 'AWS::IAM::Role')
  const services = new Map<string, { readonly roles: Set<number>; readonly actions: Set<string> }>()
  const everywhere = new Set<string>()
  for (const [i, role] of roles.entries()) {
    for (const { action, resource } of grantsOf(role)) {
      const [service = '', name = ''] = action.split(':')
      const known = services.get(service) ?? { roles: new Set(), actions: new Set() }
      services.set(service, known)
      known.roles.add(i)
      known.actions.add(name)
      if (resource === '*') everywhere.add(action)
    }
  }
  const rows = [...services].sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    `Permissions: ${count(roles.length, 'role')}, one a function; docs/access-matrix.md has each action with its resource`,
    ...rows.map(
      ([service, of]) =>
        `  ${service.padEnd(WIDTH)}${count(of.roles.size, 'role')}: ${[...of.actions].sort().join(', ')}`,
    ),
    `  on every resource, since AWS knows no smaller one: ${[...everywhere].sort().join(', ') || 'nothing'}`,
  ]
}

function grantsOf({ Properties = {} }: TemplateResource) {
  const policies = (Properties.Policies ?? []) as readonly { PolicyDocument: { Statement: readonly Statement[] } }[]
  return policies.flatMap(({ PolicyDocument }) =>
    PolicyDocument.Statement.flatMap(({ Action, Resource }) =>
      [Action].flat().map((action) => ({ action, resource: Resource })),
    ),
  )
}

function idleLines({ lines, usd_a_month }: IdleCost): readonly string[] {
  return [
    `Idle: $${usd_a_month.toFixed(2)} a month (list prices of ${PRICES.region}, ${PRICES.as_of}; docs/cost.md)`,
    ...lines.map(
      ({ what, quantity, usd }) => `  ${`$${usd.toFixed(2)}`.padEnd(WIDTH)}${quantity.toLocaleString('en-US')} ${what}`,
    ),
  ]
}
