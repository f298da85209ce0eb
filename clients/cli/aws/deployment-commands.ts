import type { Command } from 'commander'
import { count } from '../terminal/format.ts'
import { type StageOptions, wholeNumber, withStageOptions } from '../terminal/options.ts'
import { askLine, requireConfirmation } from '../terminal/prompts.ts'
import { Refused, usageError } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, plainText } from '../terminal/text.ts'
import { readStage } from './cdk-json.ts'
import { deploySummary, projectLines, type Templates } from './deploy-summary.ts'
import { checkConcurrency } from './executions.ts'
import type { LoggedLine } from './find-logs.ts'

interface DeployOptions extends StageOptions {
  readonly yes?: true
  readonly prove?: true
  readonly blocks?: number
  readonly report?: string
}

/** `sluice deploy`: the CDK's own deployment, after what it makes, may do and costs was shown. */
export function addDeploy(parent: Command, session: Session): void {
  withStageOptions(parent.command('deploy'))
    .description('deploy this project to AWS: shows what it makes, may do and costs, then asks')
    .option('--yes', 'do not ask')
    .option('--prove', 'deploy a stage of its own, try on it what no emulator shows, destroy it (docs/deploy.md)')
    .option('--blocks <n>', 'with --prove: blocks of its large run (default: 1000)', wholeNumber(10, 1_000))
    .option('--report <file>', 'with --prove: where the page goes (default: sluice-proof-STAGE.md)')
    .action((options: DeployOptions) => (options.prove === true ? proveHere : deploy)(session, options))
}

async function proveHere(session: Session, options: DeployOptions): Promise<void> {
  if (options.stage !== undefined) throw usageError('A proof has a stage of its own: leave --stage out.')
  readStage(undefined)
  const { prove } = await import('./prove/prove.ts')
  await prove(session, { ...options, blocks: options.blocks ?? 1_000 })
}

async function deploy(session: Session, options: DeployOptions): Promise<void> {
  const { stage: given, yes, profile, region, blocks, report } = options
  if (blocks !== undefined || report !== undefined) throw usageError('--blocks and --report are about --prove.')
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
      if (withData) requireOwnData(stage, templates)
      const documents = Object.keys(templates).filter((name) => name.startsWith('SluiceDocuments'))
      await cdk('destroy', 'SluiceApi', 'SluiceOperations', ...documents, 'SluiceMachines', '--force')
      if (templates.SluiceAnchors !== undefined) session.say(ANCHORED)
      if (templates.SluiceDrops !== undefined) session.say(DROPPED)
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

/** A table that `sluice:restore_from` names is not the stage's: its stack has none. */
function requireOwnData(stage: string, { SluiceData = {} }: Templates): void {
  const types = Object.values(SluiceData).map(({ Type }) => Type)
  if (types.length === 0 || types.includes('AWS::DynamoDB::Table')) return
  const detail = `Nothing was destroyed: the data of stage ${stage} is what a restore made (sluice:restore_from), and no stack has it. Destroy the stage without --with-data, then delete table and bucket by their names (docs/operate.md, "Restoring").`
  throw new Refused({ code: 'data_is_restored', detail })
}

const KEPT = 'the API, the machines and all functions go, runs under way end; the table and the bucket stay.'
const ALL = 'everything goes, with every run, approval, artifact and the knowledge graph. Nothing brings it back.'
const ANCHORED =
  'The anchors stay, with their stack SluiceAnchors: S3 deletes none before its lock is over (docs/deploy.md, "Anchors").'
const DROPPED =
  'The bucket people drop things into stays, with its stack SluiceDrops: what lies there is of whoever dropped it (docs/deploy.md).'
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
