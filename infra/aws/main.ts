import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import cdk from '../../cdk.json' with { type: 'json' }
import { Fault } from '../../shared/errors.ts'
import { readDeploySettings } from './deploy-settings.ts'
import { requireQuotas } from './measure-quotas.ts'
import { addProjectStage } from './project-stage.ts'

/** What `cdk synth`, `cdk deploy` and `npm run synth` start (cdk.json): needs no credentials and no network. */
const built = mkdtempSync(join(tmpdir(), 'sluice-synth-'))
try {
  await synthesize(process.cwd())
} catch (error) {
  // A fault says what to mend; anything else is shown whole.
  process.stderr.write(
    `${error instanceof Fault ? error.message : String(error instanceof Error ? error.stack : error)}\n`,
  )
  process.exitCode = 1
} finally {
  rmSync(built, { recursive: true, force: true })
}

async function synthesize(root: string): Promise<void> {
  // What a project's own cdk.json does not say: ours. A key that the CDK's CLI gives wins.
  const app = new App({ context: cdk.context })
  const deploy = readDeploySettings((key) => app.node.tryGetContext(key))
  const documents = await addProjectStage({ scope: app, root, deploy, built })
  requireQuotas(app.synth(), { documents, spread: deploy.document_stacks })
}
