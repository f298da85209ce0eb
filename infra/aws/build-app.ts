import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Aws, Validations } from 'aws-cdk-lib'
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag'
import type { Construct } from 'constructs'
import type { Settings } from '../../shared/settings/settings.ts'
import type { CallRight } from '../../shared/steps/integrations.ts'
import { mcpKeys } from '../../shared/tools/settings.ts'
import type { ChosenRights } from './access.ts'
import { ApiStack, OperationsStack } from './api-stack.ts'
import type { AskedModel } from './bedrock-models.ts'
import { AnchorsStack, DropsStack } from './bucket-stacks.ts'
import { acknowledgeCalls, acknowledgeFindings, acknowledgeSteps } from './cdk-nag-acknowledgements.ts'
import { encryptWithKey } from './customer-key.ts'
import type { DagMachineProps } from './dag-machine.ts'
import { DataStack } from './data-stack.ts'
import type { DeploySettings } from './deploy-settings.ts'
import { type DeployedDag, deployedResearch } from './deployed-dags.ts'
import type { DeployedStep } from './deployed-steps.ts'
import { DocumentsStack, pinStackCount, shareDocuments } from './documents-stack.ts'
import { MachinesStack } from './machines-stack.ts'
import { requireCodeRoom, requireMachineRoom, requireResourceRoom } from './measure-quotas.ts'
import { Alarms, Dashboard } from './monitoring.ts'
import { stageNames } from './names.ts'
import {
  ContainersStack,
  type ContainersStackProps,
  callPolicy,
  callRights,
  type DeployedContainer,
  deployedContainers,
  wideFindings,
} from './native-calls.ts'
import { placeInNetwork } from './network.ts'
import { keepLogs, tagAll } from './stage-wide.ts'
import { StepsStack } from './steps-stack.ts'

interface AppParts {
  /** An app, or a stage of one. */
  readonly app: Construct
  readonly deploy: DeploySettings
  /** The stage's settings (stage-settings.ts). */
  readonly settings: Settings
  readonly dags: readonly DeployedDag[]
  /** Steps of the project that they name; absent = none. */
  readonly steps?: readonly DeployedStep[]
  /** What they have AWS call (deployed-steps.ts); absent = nothing. */
  readonly calls?: readonly string[]
  /** Holds the bundles in `functions` (bundle.ts) and gets the definitions; the stacks copy from it. */
  readonly built: string
}

/** The stacks, for any account and region: nothing is looked up. cdk-nag's findings fail the synthesis. */
export function buildApp({ app, deploy, settings, dags, steps = [], calls = [], built }: AppParts): void {
  const names = stageNames(deploy.stage, deploy.restore_from)
  const all = [...dags, deployedResearch()]
  requireMachineRoom(all)
  if (deploy.release === 'gradual') requireCodeRoom(built)
  const definitions = join(built, 'definitions')
  writeDefinitions(definitions, all)
  const { document_stacks: spread } = deploy
  const stack = (name: string) => ({
    stackName: `sluice-${deploy.stage}-${name}`,
    description: `Sluice, stage ${deploy.stage}: ${name}`,
  })
  const { audit, tenants } = settings
  const containers = deployedContainers(settings, calls)
  const chosen = {
    ...chosenOf(settings, deploy),
    triggers: dags.some(({ triggers }) => triggers.length > 0),
    drops: dags.some(({ triggers }) => triggers.some(({ kind }) => kind === 'object')),
    steps: steps.map(({ slug }) => names.step(slug)),
    containers: containers.map(({ name }) => name),
  }
  // Bodies must not end before the records that name them.
  const retentionDays = Math.max(deploy.retention_days, settings.safety.retention_days)
  const data = new DataStack(app, 'SluiceData', {
    ...stack('data'),
    names,
    retentionDays,
    tenants,
    restored: deploy.restore_from,
  })
  const anchors = chosen.anchors
    ? [new AnchorsStack(app, 'SluiceAnchors', { ...stack('anchors'), names, retentionDays: audit.retention_days })]
    : []
  const drops = chosen.drops
    ? [new DropsStack(app, 'SluiceDrops', { ...stack('drops'), names, retentionDays: deploy.retention_days })]
    : []
  const projects =
    steps.length === 0 ? [] : [new StepsStack(app, 'SluiceSteps', { ...stack('steps'), names, steps, chosen, built })]
  const { tasks, rights } = callParts(app, { settings, calls, containers, ...stack('containers'), names, chosen })
  const machines = new MachinesStack(app, 'SluiceMachines', {
    ...stack('machines'),
    names,
    dags: spread === 0 ? all : [deployedResearch()],
    triggers: dags.flatMap(({ slug, triggers }) => triggers.map((trigger) => ({ slug, trigger }))),
    built,
    chosen,
    calls: callPolicy(rights),
  })
  const documents = shareDocuments(dags, spread).map((share, i) => {
    const of = stack(`documents-${i + 1}`)
    const gradual = chosen.releases
    return new DocumentsStack(app, `SluiceDocuments${i + 1}`, { ...of, names, dags: share, definitions, gradual })
  })
  const operations = new OperationsStack(app, 'SluiceOperations', { ...stack('operations'), names, chosen, built })
  // Its alarms name every machine: with hundreds, a template with spaces for people would be over a megabyte.
  const suppressTemplateIndentation = spread > 0
  const ofApi = { ...stack('api'), names, chosen, built, waf: deploy.waf, door: deploy, suppressTemplateIndentation }
  const api = new ApiStack(app, 'SluiceApi', ofApi)
  tellOfMachines(machines, { settings, steps, calls, rights, containers })
  orderStacks({ data, anchors, drops, projects, tasks, machines, documents, operations, api })
  const { release } = machines
  new Alarms(api, 'Alarms', { names, chosen, api: api.api, dags: all, email: deploy.alarm_email, release })
  new Dashboard(api, 'Dashboard', { names, apiName: names.whole })
  for (const one of [machines, ...documents]) pinStackCount(one, spread)
  if (chosen.key !== undefined)
    encryptWithKey(chosen.key, [data, ...drops, ...projects, ...tasks, machines, operations, api])
  if (deploy.network !== undefined) placeInNetwork(deploy.network, [...projects, machines, operations, api])
  keepLogs(deploy.log_retention_days, [data, ...projects, ...tasks, machines, operations, api])
  tagAll(app, deploy.tags)
  requireResourceRoom([machines, ...documents, operations, api], [data, ...anchors, ...drops, ...projects, ...tasks], {
    documents: dags.length,
    spread,
  })
  acknowledgeFindings(
    [data, ...anchors, ...drops, ...projects, ...tasks, machines, ...documents, operations, api],
    names,
    chosen,
  )
  acknowledgeSteps(projects, steps)
  acknowledgeCalls(machines, tasks, wideFindings(rights), containers)
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app))
}

interface Stacks {
  readonly data: DataStack
  readonly anchors: readonly AnchorsStack[]
  readonly drops: readonly DropsStack[]
  readonly projects: readonly StepsStack[]
  readonly tasks: readonly ContainersStack[]
  readonly machines: MachinesStack
  readonly documents: readonly DocumentsStack[]
  readonly operations: OperationsStack
  readonly api: ApiStack
}

/** Which has to be there before which. */
function orderStacks({ data, anchors, drops, projects, tasks, machines, documents, operations, api }: Stacks): void {
  machines.addStackDependency(data, 'its functions name the table and the bucket')
  for (const one of tasks) machines.addStackDependency(one, 'its machines hand over their roles')
  for (const one of projects) {
    one.addStackDependency(data, 'its functions name the bucket')
    machines.addStackDependency(one, 'open-step invokes its functions')
  }
  for (const one of drops) machines.addStackDependency(one, 'take-object names its bucket')
  for (const one of anchors) machines.addStackDependency(one, 'write-anchor names its bucket')
  operations.addStackDependency(data, 'its functions name the table and the bucket')
  for (const one of anchors) operations.addStackDependency(one, 'its functions may name its bucket')
  api.addStackDependency(machines, 'a route names start-run')
  api.addStackDependency(operations, 'routes name its functions')
  for (const one of documents) one.addStackDependency(machines, 'its machines name a role, functions and a log group')
}

/** What `sluice deploy` says of a step before it asks. */
function toldStep({ name, settings: { grants } }: DeployedStep) {
  return { name, grants: grants.map(({ actions, resources, reason }) => ({ actions, resources, reason })) }
}

/** And of a container. */
function toldContainer({ name, settings }: DeployedContainer, tenants: readonly string[]) {
  const { image, grants, aws } = settings
  return { name, image, public_ip: aws.public_ip, roles: tenants.length, grants }
}

interface Told {
  readonly settings: Settings
  readonly steps: readonly DeployedStep[]
  readonly calls: readonly string[]
  readonly rights: readonly CallRight[]
  readonly containers: readonly DeployedContainer[]
}

/** What `sluice deploy` says before it asks. */
function tellOfMachines(machines: MachinesStack, { settings, steps, calls, rights, containers }: Told): void {
  const { hosts } = settings.http_gates
  // As text: an empty list means none at all, and must not be dropped as nothing.
  if (hosts !== undefined) machines.addMetadata('sluice:egress', JSON.stringify(hosts))
  const services = [
    ...Object.entries(settings.services).map(([name, { url }]) => `${name} (${new URL(url).host})`),
    ...Object.entries(settings.mcp_servers).flatMap(([name, { url }]) =>
      url === undefined ? [] : [`MCP server ${name} (${new URL(url).host})`],
    ),
  ]
  if (services.length > 0) machines.addMetadata('sluice:services', JSON.stringify(services))
  if (steps.length > 0) machines.addMetadata('sluice:steps', JSON.stringify(steps.map(toldStep)))
  if (containers.length > 0) {
    const told = containers.map((container) => toldContainer(container, settings.tenants))
    machines.addMetadata('sluice:containers', JSON.stringify(told))
  }
  if (rights.length > 0) machines.addMetadata('sluice:calls', JSON.stringify(toldCalls(calls, rights)))
}

interface CallParts extends ContainersStackProps {
  readonly settings: Settings
  readonly calls: readonly string[]
}

/** What documents have AWS do: the rights of the machines, and the tasks of containers. */
function callParts(app: Construct, { settings, calls, ...props }: CallParts) {
  const { names, containers } = props
  const { AWS_PARTITION: partition, AWS_REGION: region, AWS_ACCOUNT_ID: account } = ANYWHERE
  const rights = callRights(settings, calls, { partition, region, account, names })
  return { rights, tasks: containers.length === 0 ? [] : [new ContainersStack(app, 'SluiceContainers', props)] }
}

/** Where it is deployed is known when it is. */
const ANYWHERE = { AWS_PARTITION: Aws.PARTITION, AWS_REGION: Aws.REGION, AWS_ACCOUNT_ID: Aws.ACCOUNT_ID }

/** What `sluice deploy` says of what machines may do besides, before it asks: with the words for the region and the account. */
function toldCalls(calls: readonly string[], rights: readonly CallRight[]) {
  const read = (text: string) =>
    text.replaceAll(Aws.PARTITION, 'aws').replaceAll(Aws.REGION, 'REGION').replaceAll(Aws.ACCOUNT_ID, 'ACCOUNT')
  const may = rights.map(({ resources, ...right }) => ({ ...right, resources: resources.map(read) }))
  return { calls: calls.map((name) => name.replaceAll('|', ' ').trim()), grants: may }
}

/** What the settings decide of rights. */
function chosenOf(settings: Settings, deploy: DeploySettings): ChosenRights & { readonly releases: boolean } {
  const { providers, research, tenants } = settings
  return {
    tenants,
    secrets: secretsOf(providers),
    models: modelsOf(providers),
    research: askedBy(research, providers),
    embeddings: research.embeddings === undefined ? [] : askedBy(research.embeddings, providers).secrets,
    judge: research.judge === undefined ? undefined : askedBy(research.judge, providers),
    shell: settings.shell_gates.allow.length > 0,
    closed: settings.authoring === 'deployed_only',
    reserved: settings.reserved_concurrency,
    slack: slackOf(settings),
    webhooks: webhookSecretsOf(settings),
    buses: [...new Set(settings.buses.map(({ bus }) => bus))],
    services: secretsOf(settings.services),
    hooks: hookSecretsOf(settings),
    mcp: mcpSecretsOf(settings),
    telemetry: telemetrySecretsOf(settings),
    events: settings.events,
    anchors: settings.audit.anchor !== 'none',
    live: settings.live_text,
    network: deploy.network !== undefined,
    releases: deploy.release === 'gradual',
    spending: settings.spending.length > 0,
    auth: deploy.auth.mode === 'iam' ? undefined : deploy.auth.mode,
    key: deploy.key === 'aws' ? undefined : deploy.key,
  }
}

/** The key of its provider, and its model where that is one of Bedrock. */
function askedBy(
  { provider, model }: Pick<Settings['research'], 'provider' | 'model'>,
  providers: Settings['providers'],
): ChosenRights['research'] {
  const own = Object.entries(providers).filter(([name]) => name === provider)
  const asked = Object.fromEntries(own)
  return { secrets: secretsOf(asked), models: modelsOf(asked).filter(({ id }) => id === model) }
}

/** Each ARN once: two providers, or services, may share a key. */
function secretsOf(providers: Settings['providers'] | Settings['services']): readonly string[] {
  const arns = Object.values(providers).flatMap((provider) => ('key' in provider ? (provider.key?.secret ?? []) : []))
  return [...new Set(arns)]
}

function mcpSecretsOf({ mcp_servers }: Settings): readonly string[] {
  const arns = Object.values(mcp_servers).flatMap((server) => mcpKeys(server).flatMap(({ key }) => key.secret ?? []))
  return [...new Set(arns)]
}

function webhookSecretsOf({ webhooks }: Settings): readonly string[] {
  const arns = webhooks.flatMap(({ key }) => [key].flat().flatMap(({ secret }) => secret ?? []))
  return [...new Set(arns)]
}

function hookSecretsOf({ triggers }: Settings): readonly string[] {
  const arns = Object.values(triggers.secrets).flatMap((key) => [key].flat().flatMap(({ secret }) => secret ?? []))
  return [...new Set(arns)]
}

function telemetrySecretsOf({ telemetry }: Settings): readonly string[] {
  const arns = Object.values(telemetry?.otlp.headers ?? {}).flatMap(({ secret }) => secret ?? [])
  return [...new Set(arns)]
}

/** ARNs alone: the stage's settings were refused without them (stage-settings.ts). */
function slackOf({ slack }: Settings): ChosenRights['slack'] {
  if (slack === undefined) return undefined
  return {
    tenant: slack.tenant,
    token: slack.token.secret ?? '',
    signing: [slack.signing_secret].flat().flatMap(({ secret }) => secret ?? []),
  }
}

/** Each model of Bedrock once a region; undefined = the stage's own. */
function modelsOf(providers: Settings['providers']): readonly AskedModel[] {
  const asked = Object.values(providers).flatMap((provider) =>
    provider.type === 'bedrock' ? (provider.models ?? []).map((id) => ({ id, region: provider.region })) : [],
  )
  return [...new Map(asked.map((model) => [`${model.region} ${model.id}`, model])).values()]
}

function writeDefinitions(dir: string, dags: readonly DagMachineProps['dag'][]): void {
  mkdirSync(dir, { recursive: true })
  for (const { slug, definition, parts } of dags) {
    writeFileSync(join(dir, `${slug}.json`), definition)
    for (const [i, { text }] of parts.entries()) writeFileSync(join(dir, `${slug}_${i + 1}.json`), text)
  }
}
