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

/** A step of the project as its stack tells it (infra/aws/build-app.ts). */
export interface DeployedStep {
  readonly name: string
  readonly grants: readonly {
    readonly actions: readonly string[]
    readonly resources: readonly string[]
    readonly reason?: string
  }[]
}

/** What each step may do besides storing what it makes, as its settings grant it. */
export function stepLines(steps: readonly DeployedStep[]): readonly string[] {
  if (steps.length === 0) return []
  const lines = steps.flatMap(({ name, grants }) => {
    if (grants.length === 0) return [`  ${name}: nothing`]
    return grants.map(({ actions, resources, reason }) => {
      const why = reason === undefined ? '' : ` (${reason})`
      return `  ${name}: ${actions.join(', ')} on ${resources.join(', ')}${why}`
    })
  })
  return ['', `Steps: ${count(steps.length, 'function')} of the project, and what the settings grant each`, ...lines]
}

/** What documents have AWS do, and what the role of the machines may do for it (infra/aws/build-app.ts). */
export interface DeployedCalls {
  readonly calls: readonly string[]
  readonly grants: DeployedStep['grants']
}

export function callLines(told: DeployedCalls | undefined): readonly string[] {
  if (told === undefined) return []
  const lines = told.grants.map(({ actions, resources }) => `  ${actions.join(', ')} on ${resources.join(', ')}`)
  return ['', `Calls that machines make themselves: ${told.calls.join('; ')}. For them their role may`, ...lines]
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
