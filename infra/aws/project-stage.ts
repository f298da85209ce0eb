import { join } from 'node:path'
import type { Construct } from 'constructs'
import { buildApp } from './build-app.ts'
import { bundleFunctions } from './bundle.ts'
import type { DeploySettings } from './deploy-settings.ts'
import { gateScripts, projectGatesOf, readDeployedDags, withToldEnds } from './deployed-dags.ts'
import { bundleSteps, readStageSteps, withDescribedSteps } from './deployed-steps.ts'
import { stageNames } from './names.ts'
import { readStageSettings, withCdkContext } from './stage-settings.ts'

interface ProjectParts {
  readonly scope: Construct
  /** The project: its settings, documents, steps and gates. */
  readonly root: string
  readonly deploy: DeploySettings
  /** A folder for bundles and definitions: the stacks copy from it. */
  readonly built: string
}

/** Bundles what a project has and puts the stacks of a stage of it into the scope. Answers how many documents it has. */
export async function addProjectStage({ scope, root, deploy, built }: ProjectParts): Promise<number> {
  const own = withCdkContext(readStageSettings(root, deploy), deploy)
  const stage = await readStageSteps(root, own)
  const described = withDescribedSteps(own, stage)
  const folders = described.dags.map((dir) => join(root, dir))
  const project = await projectGatesOf(root, folders, described.gates)
  const dags = folders.flatMap((folder) => readDeployedDags(folder, root, described, stage.known, project))
  const settings = withToldEnds(described, dags)
  const parts = {
    settings,
    dags,
    gates: gateScripts(project),
    names: stageNames(deploy.stage, deploy.restore_from),
    project: root,
  }
  await bundleFunctions(join(built, 'functions'), parts)
  await bundleSteps(join(built, 'steps'), root, stage)
  buildApp({ app: scope, deploy, settings, dags, steps: stage.steps, calls: stage.calls, built })
  return dags.length
}
