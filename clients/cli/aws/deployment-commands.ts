import type { Command } from 'commander'
import * as z from 'zod'
import type { TemplateResource } from '../../../shared/plan/idle-cost.ts'
import { readFileIfAny } from '../terminal/files.ts'
import { count } from '../terminal/format.ts'
import { type StageOptions, wholeNumber, withStageOptions } from '../terminal/options.ts'
import { askLine, requireConfirmation } from '../terminal/prompts.ts'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'
import type { AwsAccount } from './aws-account.ts'
import { allResources, deploySummary, projectLines, type Templates } from './deploy-summary.ts'
import type { LoggedLine } from './find-logs.ts'

interface DeployOptions extends StageOptions {
  readonly yes?: true
}

/** `sluice deploy`: the CDK's own deployment, after what it makes, may do and costs was shown. */
export function addDeploy(parent: Command, session: Session): void {
  withStageOptions(parent.command('deploy'))
    .description('deploy this project to AWS: shows what it makes, may do and costs, then asks')
    .option('--yes', 'do not ask')
    .action((options: DeployOptions) => deploy(session, options))
}

async function deploy(session: Session, { stage: given, yes, profile, region }: DeployOptions): Promise<void> {
  const stage = readStage(given)
  const { openAccount } = await import('./aws-account.ts')
  const account = await openAccount({ profile, region })
  session.say(`Stage ${stage} in account ${account.account}, ${account.region} (CDK bootstrap ${account.bootstrap})\n`)
  const { LAYOUT, withSynthesis } = await import('./synthesis.ts')
  const { documentCosts } = await import('../documents/plan.ts')
  const env = session.environment({ AWS_REGION: account.region })
  await withSynthesis(stage, { profile, env }, async ({ templates, egress, documentStacks, cdk, ...told }) => {
    const parameters = await account.parameters(`sluice-${stage}-machines`)
    if (parameters !== undefined) requireSameLayout(stage, documentStacks, Number(parameters[LAYOUT] ?? 0))
    const summary = [...deploySummary(templates), ...projectLines(told)]
    for (const line of [...summary, '', ...documentCosts(), '', egressLine(egress, told.services)]) session.say(line)
    await checkConcurrency(session, templates, account)
    await agree(session, yes === true, `Deploy stage ${stage}?`)
    await cdk('deploy', '--all', '--require-approval', 'never')
  })
  session.say(`\nDeployed. \`${session.settings.command} run list --stack ${stage}\` asks it.`)
}

/** Where gates and webhooks may go, and which services the settings name besides. */
export function egressLine(hosts: readonly string[] | undefined, services: readonly string[] = []): string {
  const besides = services.length === 0 ? '' : `; and ${count(services.length, 'service')}: ${shortList(services)}`
  if (hosts === undefined)
    return `Egress: any public host, since the settings have no http_gates.hosts (docs/operate.md, "Gates")${besides}`
  return hosts.length === 0
    ? `Egress: no host at all, since http_gates.hosts is empty (docs/operate.md, "Gates")${besides}`
    : `Egress: ${count(hosts.length, 'host')} of http_gates.hosts: ${shortList(hosts)}${besides}`
}

function shortList(names: readonly string[]): string {
  return `${names.slice(0, 5).join(', ')}${names.length > 5 ? ', ..' : ''}`
}

/** What Lambda keeps for functions without a reservation of their own. Source: Lambda guide, "Reserved concurrency". */
const KEPT_FREE = 100

/** Functions that reserve executions: Lambda refuses that in the middle of a deployment, so it is said before. */
async function checkConcurrency(session: Session, templates: Templates, account: AwsAccount): Promise<void> {
  const reserving = reservations(Object.values(allResources(templates)))
  if (reserving.length === 0) return
  const { limit, free } = await account.concurrency()
  // What this stage has already is not taken again. One that reserves less gives the rest back, but nobody says when.
  const has = await Promise.all(
    reserving.map(async ({ name, count: of }) => Math.min(of, await account.reservedBy(name))),
  )
  const already = sum(has)
  const all = sum(reserving.map(({ count: of }) => of))
  const told = already === 0 ? '' : `, ${already} of them already`
  session.say(`\nFunctions reserve ${all} concurrent executions${told}; the account has ${limit}, ${free} unreserved.`)
  const wanted = all - already
  if (wanted === 0 || free - wanted >= KEPT_FREE) return
  const missing = wanted + KEPT_FREE - free
  const detail = `Cannot reserve ${wanted}${already === 0 ? '' : ' more'} concurrent executions: ${free} are unreserved and Lambda keeps ${KEPT_FREE} of them free. Ask for ${limit + missing} or more (Service Quotas, "Concurrent executions"), or set \`reserved_concurrency: false\` in sluice.yaml: then open streams and runs may use up what the sweep, decisions and stops need. Shell gates reserve five whatever it says, without shell_gates.allow none.`
  throw new Refused({ code: 'too_few_executions', detail })
}

/** Functions with executions of their own; one whose name only AWS will know is not there yet. */
function reservations(resources: readonly TemplateResource[]) {
  return resources.flatMap(({ Properties: { FunctionName = '', ReservedConcurrentExecutions } = {} }) =>
    ReservedConcurrentExecutions === undefined
      ? []
      : [{ name: String(FunctionName), count: Number(ReservedConcurrentExecutions) }],
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0)
}

/**
 * Machines of documents never move from one stack to another: CloudFormation would delete them, and AWS ends what runs on
 * them. The templates refuse it, too (infra/aws/documents-stack.ts), but not on a stage of before there was the number.
 */
function requireSameLayout(stage: string, wanted: number, there: number): void {
  if (there === wanted) return
  const detail = `Nothing was deployed: stage ${stage} was deployed with sluice:document_stacks ${there}, and this project says ${wanted}. Its machines would move to other stacks, which deletes them with the runs on them. Set it to ${there} in cdk.json; docs/deploy.md, "Many documents", says how a stage gets another number.`
  throw new Refused({ code: 'document_stacks_changed', detail })
}

async function agree(session: Session, yes: boolean, question: string): Promise<void> {
  const instead = 'Nothing was deployed. --yes deploys without asking.'
  if (!yes && !session.asks)
    throw new Refused({ code: 'not_confirmed', detail: `Nobody can be asked here. ${instead}` })
  await requireConfirmation(session, { question, yes, instead })
}

interface DestroyOptions extends StageOptions {
  readonly withData?: true
  readonly confirm?: string
}

/** `sluice destroy`: takes a stage down; its data stays unless it is named twice. */
export function addDestroy(parent: Command, session: Session): void {
  withStageOptions(parent.command('destroy'))
    .description('take a deployment down; its runs, objects and approvals stay unless --with-data')
    .option('--with-data', 'delete the table and the bucket of objects too, for good')
    .option('--confirm <stage>', 'the stage again, instead of typing it when asked')
    .action((options: DestroyOptions) => destroy(session, options))
}

async function destroy(session: Session, options: DestroyOptions): Promise<void> {
  const { profile, region, withData = false } = options
  const stage = readStage(options.stage)
  const { openAccount } = await import('./aws-account.ts')
  const { account, region: place } = await openAccount({ profile, region })
  const where = { profile, region: place }
  session.say(`Stage ${stage} in account ${account}, ${place}: ${withData ? ALL : KEPT}`)
  await confirm(session, stage, options.confirm)
  const { withSynthesis } = await import('./synthesis.ts')
  await withSynthesis(
    stage,
    { profile, env: session.environment({ AWS_REGION: place }) },
    async ({ templates, cdk }) => {
      const documents = Object.keys(templates).filter((name) => name.startsWith('SluiceDocuments'))
      await cdk('destroy', 'SluiceApi', ...documents, 'SluiceMachines', '--force')
      if (templates.SluiceAnchors !== undefined) session.say(ANCHORED)
      if (!withData) return
      const { deleteData, unprotectData } = await import('./delete-data.ts')
      await unprotectData(stage, where)
      await cdk('destroy', 'SluiceData', '--force')
      const deleted = await deleteData(stage, account, where)
      session.say(`Deleted the table sluice-${stage} and ${deleted} versions of objects.`)
    },
  )
  session.say(withData ? `Stage ${stage} is gone with its data. ${LEFT}` : `Stage ${stage} is down. ${LEFT} ${AGAIN}`)
}

const KEPT = 'the API, the machines and all functions go, runs under way end; the table and the bucket stay.'
const ALL = 'everything goes, with every run, approval, artifact and the knowledge graph. Nothing brings it back.'
const ANCHORED =
  'The anchors stay, with their stack SluiceAnchors: S3 deletes none before its lock is over (docs/deploy.md, "Anchors").'
const LEFT =
  "Left over: machines of inline documents (sluice-STAGE-x-..), the access logs' bucket, API Gateway's log role."
const AGAIN = '`sluice deploy` puts it up again over the same data.'

/** The name of the stage, typed: a yes is given too fast. */
async function confirm(session: Session, stage: string, given: string | undefined): Promise<void> {
  const typed = given ?? (session.asks ? ((await askLine(`Type ${stage} to go on: `)) ?? '') : undefined)
  if (typed === stage) return
  const detail = `Nothing was destroyed: ${whyNot(stage, typed)}. Type the name of the stage, or say --confirm ${stage}.`
  throw new Refused({ code: 'not_confirmed', detail })
}

function whyNot(stage: string, typed: string | undefined): string {
  if (typed === undefined) return 'Nobody can be asked here'
  return typed === '' ? 'no name was typed' : `"${typed}" is not "${stage}"`
}

const CdkSchema = z.looseObject({ context: z.looseObject({ 'sluice:stage': z.string().optional() }).optional() })

const SETTINGS = 'sluice.yaml'

/** Stages are what infra/aws/deploy-settings.ts allows. */
const STAGE = /^[a-z][a-z0-9]{0,11}$/

/** The stage that is meant: `given`, else the one cdk.json of this folder says, else `dev`. Refused where no project stands. */
function readStage(given: string | undefined): string {
  const text = readFileIfAny('cdk.json', 'settings')
  if (text === undefined && readFileIfAny(SETTINGS, 'settings') === undefined) throw noProject()
  const told = CdkSchema.safeParse(text === undefined ? {} : jsonOf(text)).data?.context?.['sluice:stage']
  const stage = given ?? told ?? 'dev'
  if (STAGE.test(stage)) return stage
  throw usageError(`A stage is a letter, then small letters and digits, 12 at most; this is "${stage}".`)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function noProject(): Refused {
  const detail = `No project stands in this folder: there is no ${SETTINGS} and no cdk.json. What is deployed is the project of the folder, its documents, steps, gates and settings: go to it, or write one with \`sluice init\` (docs/deploy.md).`
  return new Refused({ code: 'no_project', detail })
}

interface LogsOptions extends StageOptions {
  readonly stage: string
  readonly hours: number
  readonly limit: number
  readonly json?: true
}

/** `sluice logs RUN`: what the functions and machines of a deployment wrote about a run. */
export function addLogs(parent: Command, session: Session): void {
  parent
    .command('logs')
    .description('what the functions of a deployment logged about a run (CloudWatch)')
    .argument('<run-id>')
    .requiredOption('--stage <name>', 'the stage of the deployment')
    .option('--profile <name>', 'AWS profile to use (default: AWS_PROFILE, else as the AWS tools choose)')
    .option('--region <name>', 'AWS region (default: AWS_REGION, else that of the profile)')
    .option('--hours <n>', 'how far back to look, at most the 720 that logs are kept', wholeNumber(1, 720), 24)
    .option('--limit <n>', 'at most so many lines, the newest', wholeNumber(1, 100_000), 1_000)
    .option('--json', 'print one JSON object a line')
    .action((run: string, options: LogsOptions) => logs(session, run, options))
}

async function logs(session: Session, run: string, { stage, hours: back, limit, json, ...options }: LogsOptions) {
  if (!/^[\w-]{1,128}$/.test(run)) throw usageError(`"${run}" is no id of a run.`)
  const { findLogs } = await import('./find-logs.ts')
  const since = Date.now() - back * 3_600_000
  const lines = await findLogs({ stage, text: run, since, limit, ...options })
  if (lines.length === 0) {
    session.warn(
      `Nothing was logged about ${run} in ${back} hours. What it did is in \`${session.settings.command} run events ${run} --stack ${stage}\`.`,
    )
  }
  for (const line of lines) await session.write(`${json === true ? jsonText(line) : shown(line)}\n`)
}

/** `2026-11-22T20:04:09.120Z run-block error the table is away {..}`; a line that is no JSON stands as it is. */
function shown({ at, group, text }: LoggedLine): string {
  // The machines share one group, whose name is the stage's.
  const name = group.startsWith('/aws/lambda/') ? group.replace(/^.*\/sluice-[a-z0-9]+-/, '') : 'machine'
  const start = `${new Date(at).toISOString()} ${name}`
  const said = factsOf(text)
  if (said === undefined) return plainText(`${start} ${text}`)
  const { at: _at, level = '', message = said.type ?? '', stage: _stage, function: _function, _aws, ...facts } = said
  return plainText([start, level, message, jsonText(facts)].filter((part) => part !== '').join(' '))
}

function factsOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
