import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { App } from 'aws-cdk-lib'
import { buildApp } from '../../infra/aws/build-app.ts'
import { bundleFunctions } from '../../infra/aws/bundle.ts'
import { readDeploySettings } from '../../infra/aws/deploy-settings.ts'
import { readDeployedDags } from '../../infra/aws/deployed-dags.ts'
import { stageNames } from '../../infra/aws/names.ts'
import { readStageSettings } from '../../infra/aws/stage-settings.ts'
import { callerOf } from '../aws/caller.ts'
import { deploy } from '../aws/deploy.ts'
import { ROOT } from '../integration/aws/assembly.ts'
import { growingDocument } from '../integration/aws/growing-document.ts'
import { cdkContext } from '../integration/aws/synthesized.ts'
import { openItemScales } from './item-scales.ts'

/**
 * `npm run bench:growth`: documents of 10 to 1,000 blocks, deployed together on the emulated stacks and run one after another;
 * prints the table of docs/deploy.md, "How it grows". Numbers name other sizes. Seconds are of this machine now: its
 * functions share its cores.
 */
const given = process.argv.slice(2).map(Number)
const SIZES = given.length > 0 ? given : [10, 100, 500, 1_000]

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-growth-'))
  process.env.SLUICE_TEST_SHARED = folder
  const scales = openItemScales()
  const place = await deploy(await synthesize(folder), {}, scales.through)
  try {
    const caller = callerOf(place.api.url)
    console.log(`${availableParallelism()} cores, load average ${loadavg()[0]?.toFixed(1)}\n`)
    console.log('| blocks | seconds | transitions | history events | write units | a block | largest item | HEAD |')
    console.log('| ------ | ------- | ----------- | -------------- | ----------- | ------- | ------------ | ---- |')
    for (const blocks of SIZES) {
      scales.clear()
      const begun = performance.now()
      const id = await caller.start({ name: `large-${blocks}` })
      const state = await ended(caller, id)
      const seconds = (performance.now() - begun) / 1_000
      if (state !== 'completed') throw new Error(`the run of ${blocks} blocks ended as ${state}`)
      await place.lambda.settled()
      const executions = place.states.recorded(id)
      const { units, largest, head } = scales.seen()
      const cells = [
        blocks,
        seconds.toFixed(1),
        executions.reduce((sum, { transitions }) => sum + transitions, 0),
        executions.map(({ counted }) => counted.toLocaleString('en-US')).join(' + '),
        units,
        (units / blocks).toFixed(1),
        largest,
        head,
      ]
      console.log(`| ${cells.map((cell) => cell.toLocaleString('en-US')).join(' | ')} |`)
    }
  } finally {
    await place.close()
    await scales.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function synthesize(folder: string): Promise<string> {
  mkdirSync(join(folder, 'dags'))
  for (const blocks of SIZES) {
    writeFileSync(join(folder, `dags/large-${blocks}.yaml`), growingDocument(blocks, `large-${blocks}`))
  }
  const app = new App({ outdir: join(folder, 'out'), analyticsReporting: false, context: cdkContext() })
  const settings = readStageSettings(ROOT, { stage: 'dev' })
  const dags = readDeployedDags(join(folder, 'dags'), folder, settings)
  await bundleFunctions(join(folder, 'functions'), { settings, dags, names: stageNames('dev') })
  const chosen = readDeploySettings((key) => app.node.tryGetContext(key))
  buildApp({ app, deploy: chosen, settings, dags, built: folder })
  app.synth()
  return join(folder, 'out')
}

async function ended(caller: ReturnType<typeof callerOf>, id: string): Promise<string> {
  for (;;) {
    const { status, json, text } = await caller.call('GET', `/api/dag/runs/${id}`)
    const { state } = (json.run ?? { state: 'unknown' }) as { readonly state: string }
    // Whoever looks may be refused on a busy machine; the run goes on.
    if (status !== 200) console.error(`GET run: ${status} ${text}`)
    else if (state !== 'running' && state !== 'pending') return state
    await sleep(500)
  }
}

await main()
