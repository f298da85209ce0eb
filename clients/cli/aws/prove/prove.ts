import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import about from '../../../../package.json' with { type: 'json' }
import { PRICES } from '../../../../shared/plan/aws-prices.ts'
import { idleCost } from '../../../../shared/plan/idle-cost.ts'
import type { Settings } from '../../../../shared/settings/settings.ts'
import { settingsOrDefaults } from '../../documents/settings-file.ts'
import type { Target } from '../../server/api.ts'
import { count } from '../../terminal/format.ts'
import { askLine } from '../../terminal/prompts.ts'
import { Refused } from '../../terminal/refused.ts'
import type { Session } from '../../terminal/session.ts'
import { type AwsAccount, openAccount } from '../aws-account.ts'
import type { CallerOptions } from '../aws-caller.ts'
import { tagsOfCdkJson } from '../cdk-json.ts'
import { allResources, deploySummary } from '../deploy-summary.ts'
import { checkConcurrency, KEPT_FREE } from '../executions.ts'
import { openStageReleases } from '../release/stage-releases.ts'
import { openSignedTarget } from '../signed-target.ts'
import { withSynthesis } from '../synthesis.ts'
import { requestsUsd, runUsd } from './proof-documents.ts'
import { type Outcome, type Proof, proofLines, proofPage } from './proof-report.ts'
import { NotHeld, type ProofCounts, type ProofStage } from './proof-stage.ts'
import { type ProofStep, proofSteps } from './proof-steps.ts'
import { drawStage, type Leftover, takeDown } from './take-down.ts'

export interface ProveOptions {
  readonly profile?: string | undefined
  readonly region?: string | undefined
  readonly yes?: true
  /** Of the large run. */
  readonly blocks: number
  /** File of the page; default: named after the stage, in this folder. */
  readonly report?: string | undefined
}

/** Hours that a proof is reckoned with; it takes about one. */
const HOURS = 2
/** Looks at runs, mostly. */
const REQUESTS = 2_000

/**
 * `sluice deploy --prove`: deploys a stage of its own, tries on it what no emulator shows, and takes it down again, whatever
 * came of it. `more`: steps besides those of every proof.
 */
export async function prove(session: Session, options: ProveOptions, more: readonly ProofStep[] = []): Promise<void> {
  const { profile, region } = options
  const settings = settingsOrDefaults()
  requireProvable(settings)
  const account = await openAccount({ profile, region })
  const stage = await freeStage(account)
  const where = { profile, region: account.region }
  session.say(
    `A stage of its own, ${stage}, in account ${account.account}, ${account.region}; no other stage is read or changed.\n`,
  )
  const steps = [...proofSteps(options.blocks), ...more]
  const env = session.environment({ AWS_REGION: account.region })
  const apart = { profile, env, apart: true }
  await withSynthesis(stage, { ...apart, context: proofContext(stage, 1) }, async ({ templates, cdk }) => {
    const idle = idleCost(allResources(templates), PRICES).usd_a_month
    const told = [...deploySummary(templates), ...estimateLines(steps, idle), ...toldLines(settings)]
    for (const line of told) session.say(line)
    await checkConcurrency(session, templates, account)
    await agree(session, options.yes === true, account.account)
    session.say(
      `\nShould this process be killed, \`${session.settings.command} destroy --stage ${stage} --with-data --confirm ${stage}${regionWords(where)}\` takes the stage down.`,
    )
    const stop = stopOnSignals(session)
    const counts: ProofCounts = { runs: 0, blocks: 0, requests: 0, usd: 0 }
    const began = Date.now()
    const stacks = Object.keys(templates)
    const outcomes: Outcome[] = []
    let left: readonly Leftover[] = []
    try {
      const deploy = () =>
        cdk('deploy', '--all', '--require-approval', 'never').then(() => count(stacks.length, 'stack'))
      const open = () => openStage(stage, { account, where, apart, counts, signal: stop.signal })
      for await (const outcome of outcomesOf(session, { deploy, open, steps, signal: stop.signal }))
        outcomes.push(outcome)
    } finally {
      session.say(`\nTaking ${stage} down`)
      stop.leaving()
      left = await takeDown({ stage, account: account.account, where, stacks, cdk, note: session.say })
      stop.over()
    }
    const proof: Proof = {
      stage,
      region: account.region,
      version: about.version,
      at: new Date(began).toISOString(),
      outcomes,
      counts,
      stood_ms: Date.now() - began,
      idle_usd_a_month: idle,
      requests_usd: requestsUsd(counts.requests),
      left,
    }
    finish(session, proof, options.report ?? `sluice-proof-${stage}.md`)
    if (stop.signal.aborted) process.exitCode = 130
  })
}

interface Steps {
  deploy(): Promise<string>
  open(): Promise<ProofStage>
  readonly steps: readonly ProofStep[]
  readonly signal: AbortSignal
}

/** The deployment and each step as it ends; a stage that is not there has nothing tried on it. */
async function* outcomesOf(session: Session, { deploy, open, steps, signal }: Steps): AsyncGenerator<Outcome> {
  let stage: ProofStage | undefined
  const deployed = await tried(DEPLOY, signal, async () => {
    const seen = await deploy()
    stage = await open()
    return seen
  })
  yield deployed
  const standing = stage
  for (const step of steps) {
    session.say(`\nProving ${step.name}: ${step.claims}`)
    const outcome = await tried(step, signal, standing && (() => step.prove(standing)))
    session.say(
      `  ${outcome.held === 'yes' ? 'held' : outcome.held === 'no' ? 'NOT HELD' : outcome.held}: ${outcome.seen}`,
    )
    yield outcome
  }
}

interface OpenedBy {
  readonly account: AwsAccount
  readonly where: CallerOptions & { readonly region: string }
  readonly apart: Parameters<typeof withSynthesis>[1]
  readonly counts: ProofCounts
  readonly signal: AbortSignal
}

/** The stage that was deployed, found by its outputs; each request is counted where it is signed. */
async function openStage(stage: string, { account, where, apart, counts, signal }: OpenedBy): Promise<ProofStage> {
  const { url, sign } = await openSignedTarget({ stack: stage, ...where })
  const target: Target = {
    url,
    named: true,
    sign(request) {
      counts.requests += 1
      return sign(request)
    },
  }
  return {
    target,
    counts,
    signal,
    redeploy: () =>
      withSynthesis(stage, { ...apart, context: proofContext(stage, 2) }, ({ cdk }) =>
        cdk('deploy', '--all', '--require-approval', 'never'),
      ),
    releases: () => openStageReleases(stage, where),
    limitRunBlock: (most) => limitRunBlock(account, `sluice-${stage}-run-block`, most),
  }
}

const DEPLOY = { name: 'deploy', claims: 'the stacks can be created in an account that has none of them' }

/** Other tags are another setting, which every bundle carries: each function gets other code. */
function proofContext(stage: string, release: number): readonly string[] {
  const tags = { ...tagsOfCdkJson(), 'sluice:proof': `${stage}-${release}` }
  return [`sluice:tags=${JSON.stringify(tags)}`, 'sluice:auth=iam', 'sluice:release=gradual']
}

/** What could not be proven, or not taken down again. */
function requireProvable({ authoring, audit }: Settings): void {
  const because =
    authoring === 'deployed_only'
      ? 'its settings say `authoring: deployed_only`, and the runs of a proof come with their documents'
      : audit.anchor !== 'none'
        ? 'its settings say `audit.anchor`, and S3 deletes no anchor before its lock is over: the bucket would stay'
        : undefined
  if (because === undefined) return
  const detail = `Cannot prove a stage of this project: ${because}. Prove it with a settings file without that (sluice:settings in cdk.json).`
  throw new Refused({ code: 'not_provable', detail })
}

/** A name nobody has: drawn, and looked for. */
async function freeStage(account: AwsAccount): Promise<string> {
  const stage = drawStage(randomBytes(7))
  const there = await Promise.all(['data', 'machines', 'api'].map((of) => account.parameters(`sluice-${stage}-${of}`)))
  return there.every((stack) => stack === undefined) ? stage : await freeStage(account)
}

function estimateLines(steps: readonly ProofStep[], idle: number): readonly string[] {
  const starts = steps.flatMap((step) => step.starts)
  const runs = starts.reduce((sum, one) => sum + one.runs, 0)
  const run = starts.reduce((sum, one) => sum + one.runs * runUsd(one.document), 0)
  const requests = requestsUsd(REQUESTS)
  const hours = (idle * HOURS) / 730
  return [
    '',
    `Estimated cost: $${(run + requests + hours).toFixed(2)}, at most $${(run + requests + idle).toFixed(2)} (list prices of ${PRICES.region}, ${PRICES.as_of})`,
    `  $${run.toFixed(2)}  ${count(runs, 'run')}`,
    `  $${requests.toFixed(2)}  ${REQUESTS.toLocaleString('en-US')} requests`,
    `  $${hours.toFixed(2)}  ${HOURS} hours of an idle stage; $${idle.toFixed(2)} where alarms and the dashboard are billed as a whole month`,
  ]
}

/** Whoever else hears of the runs of a proof. */
function toldLines({ slack, webhooks, telemetry, events }: Settings): readonly string[] {
  const told = [
    slack === undefined ? [] : 'Slack (questions of the proof are posted)',
    webhooks.length === 0 ? [] : count(webhooks.length, 'webhook'),
    telemetry === undefined ? [] : 'the collector of spans',
    events === undefined ? [] : 'a rule on the event bus of the settings is made',
  ].flat()
  return told.length === 0 ? [] : [`The settings name others, who are told of its runs: ${told.join('; ')}`]
}

async function agree(session: Session, yes: boolean, account: string): Promise<void> {
  if (yes) return
  const typed = session.asks
    ? ((await askLine(`Type the account's number to deploy and destroy there: `)) ?? '')
    : undefined
  if (typed === account) return
  const why =
    typed === undefined
      ? 'Nobody can be asked here'
      : typed === ''
        ? 'No number was typed'
        : `"${typed}" is not ${account}`
  const detail = `Nothing was deployed: ${why}. Type the number of the account that is shown, or say --yes.`
  throw new Refused({ code: 'not_confirmed', detail })
}

function regionWords({ region, profile }: { readonly region: string; readonly profile: string | undefined }): string {
  return ` --region ${region}${profile === undefined ? '' : ` --profile ${profile}`}`
}

/** Ctrl-C and its like end the steps, and never the taking down. */
function stopOnSignals(session: Session) {
  const asked = new AbortController()
  let isLeaving = false
  const stop = () => {
    if (isLeaving) session.warn('The stage is being taken down; this goes on until it is gone.')
    else if (!asked.signal.aborted)
      session.warn('\nStopping: what is deployed now is waited for, then all of it is destroyed.')
    asked.abort(new Error('stopped'))
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, stop)
  return {
    signal: asked.signal,
    leaving() {
      isLeaving = true
    },
    over() {
      for (const signal of signals) process.off(signal, stop)
    },
  }
}

/** One step: whatever it throws is what was seen. Without a `go` the stage is not there. */
async function tried(
  { name, claims }: Pick<Outcome, 'name' | 'claims'>,
  signal: AbortSignal,
  go: (() => Promise<string>) | undefined,
): Promise<Outcome> {
  if (signal.aborted || go === undefined) {
    const seen = signal.aborted ? 'stopped before it' : 'the stage was not deployed'
    return { name, claims, held: 'not tried', seen, ms: 0 }
  }
  const began = Date.now()
  const outcome = await go().then(
    (seen) => ({ held: 'yes', seen }) as const,
    (error: unknown) => ({ held: signal.aborted ? 'not tried' : 'no', seen: wordsOf(error, signal) }) as const,
  )
  return { name, claims, ...outcome, ms: Date.now() - began }
}

function wordsOf(error: unknown, signal: AbortSignal): string {
  if (signal.aborted) return 'stopped in the middle of it'
  if (error instanceof NotHeld) return error.message
  if (error instanceof Refused) return `${error.reason.detail} [${error.reason.code}]`
  return String(error)
}

async function limitRunBlock(account: AwsAccount, name: string, most: number | undefined): Promise<string> {
  if (most === undefined) {
    await account.reserve(name, undefined)
    return 'no limit'
  }
  const { limit, free } = await account.concurrency()
  if (free - most < KEPT_FREE)
    return `run-block shares the account's ${limit} executions, ${free} unreserved: none could be reserved for it`
  await account.reserve(name, most)
  return `run-block had ${most} executions`
}

function finish(session: Session, proof: Proof, file: string): void {
  writeFileSync(file, proofPage(proof))
  session.say('')
  for (const line of proofLines(proof)) session.say(line)
  session.say(`\n${file} is the section for docs/differences.md.`)
  if (!proof.outcomes.every(({ held }) => held === 'yes')) process.exitCode = 100
  if (!proof.left.every(({ meant }) => meant === true)) process.exitCode = 1
}
