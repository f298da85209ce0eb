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
  const { withSynthesis } = await import('./synthesized-stage.ts')
  const { documentCosts } = await import('./document-costs.ts')
  const env = session.environment({ AWS_REGION: account.region })
  await withSynthesis(stage, { profile, env }, async ({ templates, egress, cdk }) => {
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
  const wanted = reserved(Object.values(resourcesOf(templates)))
  if (wanted === 0) return
  const { limit, free } = await account.concurrency()
  session.say(`\nFunctions reserve ${wanted} concurrent executions; the account has ${limit}, ${free} unreserved.`)
  if (free - wanted >= KEPT_FREE) return
  const missing = wanted + KEPT_FREE - free
  const detail = `Cannot reserve ${wanted} concurrent executions: ${free} are unreserved and Lambda keeps ${KEPT_FREE} of them free. Ask for ${limit + missing} or more (Service Quotas, "Concurrent executions"), or set \`reserved_concurrency: false\` in sluice.yaml: then open streams and runs may use up what the sweep, decisions and stops need. Shell gates reserve five whatever it says, without shell_gates.allow none.`
  throw new Refused({ code: 'too_few_executions', detail })
}

function reserved(resources: readonly TemplateResource[]): number {
  return resources.reduce((sum, { Properties }) => sum + Number(Properties?.ReservedConcurrentExecutions ?? 0), 0)
}

async function agree(session: Session, yes: boolean, question: string): Promise<void> {
  const instead = 'Nothing was deployed. --yes deploys without asking.'
  if (!yes && !session.asks)
    throw new Refused({ code: 'not_confirmed', detail: `Nobody can be asked here. ${instead}` })
  await askPerson(session, { question, yes, instead })
}
