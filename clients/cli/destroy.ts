import type { Command } from 'commander'
import { askLine } from './ask-line.ts'
import { Refused } from './refused.ts'
import type { Session } from './session.ts'
import { stageOfCheckout } from './stage-checkout.ts'
import { type StageOptions, withStage } from './stage-options.ts'

interface DestroyOptions extends StageOptions {
  readonly withData?: true
  readonly confirm?: string
}

/** `sluice destroy`: takes a stage down; its data stays unless it is named twice. */
export function addDestroy(parent: Command, session: Session): void {
  withStage(parent.command('destroy'))
    .description('take a deployment down; its runs, objects and approvals stay unless --with-data')
    .option('--with-data', 'delete the table and the bucket of objects too, for good')
    .option('--confirm <stage>', 'the stage again, instead of typing it when asked')
    .action((options: DestroyOptions) => destroy(session, options))
}

async function destroy(session: Session, options: DestroyOptions): Promise<void> {
  const { profile, region, withData = false } = options
  const stage = stageOfCheckout(options.stage)
  const { openAccount } = await import('./aws/aws-account.ts')
  const { account, region: place } = await openAccount({ profile, region })
  const where = { profile, region: place }
  session.say(`Stage ${stage} in account ${account}, ${place}: ${withData ? ALL : KEPT}`)
  await confirm(session, stage, options.confirm)
  const { withSynthesis } = await import('./synthesized-stage.ts')
  await withSynthesis(
    stage,
    { profile, env: session.environment({ AWS_REGION: place }) },
    async ({ templates, cdk }) => {
      const documents = Object.keys(templates).filter((name) => name.startsWith('SluiceDocuments'))
      await cdk('destroy', 'SluiceApi', ...documents, 'SluiceMachines', '--force')
      if (templates.SluiceAnchors !== undefined) session.say(ANCHORED)
      if (!withData) return
      const { deleteData, unprotectData } = await import('./aws/delete-data.ts')
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
