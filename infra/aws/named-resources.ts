import { type ArnComponents, ArnFormat, type Stack } from 'aws-cdk-lib'
import { anchorsOf } from '../../shared/runs/anchor.ts'
import { RUN_INDEXES } from '../../shared/runs/table.ts'
import type { Names } from './names.ts'

/** The ARNs of what rights are given on: of a tenant's own, one a tenant. */
export function arnsOf(stack: Stack, names: Names, on: ResourceName, tenants: readonly string[]): readonly string[] {
  if (!isOfTenant(on)) return [stack.formatArn(RESOURCES[on](names, stack))]
  const bucket = on === 'anchors' ? RESOURCES.anchorsBucket : s3
  return tenants.map((tenant) => stack.formatArn({ ...bucket(names, stack), resourceName: OF_TENANT[on](tenant) }))
}

export type ResourceName = keyof typeof RESOURCES | keyof typeof OF_TENANT

/** Folders of the bucket; `anchors` of the one with Object Lock. */
const OF_TENANT = {
  objects: (tenant: string) => `${tenant}/objects/*`,
  snapshots: (tenant: string) => `${tenant}/index/*`,
  anchors: (tenant: string) => `${anchorsOf(tenant)}*`,
}

function isOfTenant(on: ResourceName): on is keyof typeof OF_TENANT {
  return Object.hasOwn(OF_TENANT, on)
}

const table = (resourceName: string): ArnComponents => ({ service: 'dynamodb', resource: 'table', resourceName })
const s3 = ({ bucket }: Names, { account, region }: Stack): ArnComponents => ({
  service: 's3',
  region: '',
  account: '',
  resource: bucket(account, region),
})
const colons = (service: string, resource: string, resourceName: string): ArnComponents => ({
  service,
  resource,
  resourceName,
  arnFormat: ArnFormat.COLON_RESOURCE_NAME,
})

const RESOURCES = {
  table: (names: Names) => table(names.table),
  runsByTime: (names: Names) => table(`${names.table}/index/${RUN_INDEXES.runs.name}`),
  runsInbox: (names: Names) => table(`${names.table}/index/${RUN_INDEXES.approvals.name}`),
  runsDue: (names: Names) => table(`${names.table}/index/${RUN_INDEXES.due.name}`),
  bucket: s3,
  anchorsBucket: (names: Names, { account, region }: Stack) => ({
    service: 's3',
    region: '',
    account: '',
    resource: names.anchors(account, region),
  }),
  machines: (names: Names) => colons('states', 'stateMachine', names.machine('*')),
  inlineMachines: (names: Names) => colons('states', 'stateMachine', `${names.inlineMachines}*`),
  executions: (names: Names) => colons('states', 'execution', `${names.machine('*')}:*`),
  machineRole: (names: Names, { region }: Stack) => ({
    service: 'iam',
    region: '',
    resource: 'role',
    resourceName: names.machineRole(region),
  }),
  sendOutbox: (names: Names) => colons('lambda', 'function', names.function('send-outbox')),
  startRun: (names: Names) => colons('lambda', 'function', names.function('start-run')),
  indexGraph: (names: Names) => colons('lambda', 'function', names.function('index-graph')),
  sendWebhooks: (names: Names) => colons('lambda', 'function', names.function('send-webhooks')),
  slackWork: (names: Names) => colons('lambda', 'function', names.function('slack-work')),
  writeAnchor: (names: Names) => colons('lambda', 'function', names.function('write-anchor')),
  netGate: (names: Names) => colons('lambda', 'function', names.function('net-gate')),
  shellGate: (names: Names) => colons('lambda', 'function', names.function('shell-gate')),
} as const satisfies Readonly<Record<string, (names: Names, stack: Stack) => ArnComponents>>
