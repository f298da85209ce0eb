import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { Fault } from '../../shared/errors.ts'
import { buildApp } from './build-app.ts'
import { bundleFunctions } from './bundle.ts'
import { readDeploySettings } from './deploy-settings.ts'
import { gateScripts, projectGatesOf, readDeployedDags } from './deployed-dags.ts'
import { bundleSteps, readStageSteps, withDescribedSteps } from './deployed-steps.ts'
import { stageNames } from './names.ts'
import { readStageSettings, withCdkContext } from './stage-settings.ts'
import { requireRoleRoom, requireSmallTemplates } from './template-limits.ts'

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
  const app = new App()
  const deploy = readDeploySettings((key) => app.node.tryGetContext(key))
  const own = withCdkContext(readStageSettings(root, deploy), deploy)
  const stage = await readStageSteps(root, own)
  const settings = withDescribedSteps(own, stage)
  const folders = settings.dags.map((dir) => join(root, dir))
  const project = await projectGatesOf(root, folders, settings.gates)
  const dags = folders.flatMap((folder) => readDeployedDags(folder, root, settings, stage.known, project))
  const parts = { settings, dags, gates: gateScripts(project), names: stageNames(deploy.stage), project: root }
  await bundleFunctions(join(built, 'functions'), parts)
  await bundleSteps(join(built, 'steps'), root, stage)
  buildApp({ app, deploy, settings, dags, steps: stage.steps, calls: stage.calls, built })
  const asked = { documents: dags.length, spread: deploy.document_stacks }
  const assembly = app.synth()
  requireRoleRoom(assembly)
  requireSmallTemplates(assembly, asked)
}
