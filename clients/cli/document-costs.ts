import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseDag } from '../../shared/dag/parse.ts'
import { planDag } from '../../shared/plan/plan-dag.ts'
import { knownProviders } from './check-files.ts'
import { readFile } from './read-file.ts'
import { settingsHere } from './settings-here.ts'

/** What 1,000 runs of each document of the settings' folders cost, as `sluice plan` reckons it; a line a document. */
export function documentCosts(): readonly string[] {
  const settings = settingsHere()
  const files = settings.dags.flatMap((dir) =>
    existsSync(dir)
      ? readdirSync(dir)
          .filter((name) => /\.ya?ml$/.test(name))
          .map((name) => join(dir, name))
      : [],
  )
  const rows = files.sort().flatMap((file) => {
    const name = file.replace(/^.*[\\/]|\.ya?ml$/g, '')
    const parsed = parseDag(readFile(file, 'DAG file'), { name, providers: knownProviders() })
    if (!parsed.ok) return []
    const { cost } = planDag(parsed.dag, { ...USUAL, max_parallel: settings.safety.max_parallel }, settings)
    const { orchestration_usd_per_1000_runs: own, work_usd_per_1000_runs: work } = cost
    return [`  ${parsed.dag.name.padEnd(24)}$${own.toFixed(2)}, $${work.toFixed(2)} of Lambda while blocks work`]
  })
  return ['1,000 runs, without what models cost (`sluice plan FILE` has the formula)', ...rows]
}

/** As `sluice plan` without options: a second a block, one item of a list that a run makes. */
const USUAL = { durations: {}, default_duration: 1, items: {} }
