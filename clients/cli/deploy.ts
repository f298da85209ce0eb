import type { Command } from 'commander'
import type { TemplateResource } from '../../shared/plan/idle-cost.ts'
import { askPerson } from './ask-person.ts'
import type { AwsAccount } from './aws/aws-account.ts'
import { deploySummary, resourcesOf, type Templates } from './deploy-summary.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { stageOfCheckout } from './stage-checkout.ts'
import { type StageOptions, withStage } from './stage-options.ts'
import { count } from './words.ts'

interface DeployOptions extends StageOptions {
  readonly yes?: true
}

/** `sluice deploy`: the CDK's own deployment, after what it makes, may do and costs was shown. */
export function addDeploy(parent: Command, session: Session): void {
  withStage(parent.command('deploy'))
    .description('deploy this checkout to AWS: shows what it makes, may do and costs, then asks')
    .option('--yes', 'do not ask')
    .action((options: DeployOptions) => deploy(session, options))
}

async function deploy(session: Session, { stage: given, yes, profile, region }: DeployOptions): Promise<void> {
  const stage = stageOfCheckout(given)
  const { openAccount } = await import('./aws/aws-account.ts')
  const account = await openAccount({ profile, region })
  session.say(`Stage ${stage} in account ${account.account}, ${account.region} (CDK bootstrap ${account.bootstrap})\n`)
  const { LAYOUT, withSynthesis } = await import('./synthesized-stage.ts')
  const { documentCosts } = await import('./document-costs.ts')
  const env = session.environment({ AWS_REGION: account.region })
  await withSynthesis(stage, { profile, env }, async ({ templates, egress, documentStacks, cdk }) => {
    const parameters = await account.parameters(`sluice-${stage}-machines`)
    if (parameters !== undefined) requireSameLayout(stage, documentStacks, Number(parameters[LAYOUT] ?? 0))
    for (const line of [...deploySummary(templates), '', ...documentCosts(), '', egressLine(egress)]) session.say(line)
    await checkConcurrency(session, templates, account)
    await agree(session, yes === true, `Deploy stage ${stage}?`)
    await cdk('deploy', '--all', '--require-approval', 'never')
  })
  session.say(`\nDeployed. \`${session.settings.command} run list --stack ${stage}\` asks it.`)
}

/** Where gates and webhooks may go. */
export function egressLine(hosts: readonly string[] | undefined): string {
  if (hosts === undefined)
    return 'Egress: any public host, since the settings have no http_gates.hosts (docs/operate.md, "Gates")'
  return hosts.length === 0
    ? 'Egress: no host at all, since http_gates.hosts is empty (docs/operate.md, "Gates")'
    : `Egress: ${count(hosts.length, 'host')} of http_gates.hosts: ${hosts.slice(0, 5).join(', ')}${hosts.length > 5 ? ', ..' : ''}`
}

/** What Lambda keeps for functions without a reservation of their own. Source: Lambda guide, "Reserved concurrency". */
const KEPT_FREE = 100

/** Functions that reserve executions: Lambda refuses that in the middle of a deployment, so it is said before. */
async function checkConcurrency(session: Session, templates: Templates, account: AwsAccount): Promise<void> {
  const reserving = reservations(Object.values(resourcesOf(templates)))
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
  const detail = `Nothing was deployed: stage ${stage} was deployed with sluice:document_stacks ${there}, and this checkout says ${wanted}. Its machines would move to other stacks, which deletes them with the runs on them. Set it to ${there} in cdk.json; docs/deploy.md, "Many documents", says how a stage gets another number.`
  throw new Refused({ code: 'document_stacks_changed', detail })
}

async function agree(session: Session, yes: boolean, question: string): Promise<void> {
  const instead = 'Nothing was deployed. --yes deploys without asking.'
  if (!yes && !session.asks)
    throw new Refused({ code: 'not_confirmed', detail: `Nobody can be asked here. ${instead}` })
  await askPerson(session, { question, yes, instead })
}
