import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ProjectGates } from '../../shared/gates/project-gates.ts'
import { readYaml } from '../../shared/text/yaml.ts'
import { askGates } from '../modules/ask-gates.ts'
import type { DeployedGates } from './bundle.ts'

/** The gates of the project in `root` that the documents of these folders, or gates of tasks, name: as they are now. */
export async function projectGatesOf(
  root: string,
  folders: readonly string[],
  task_gates: readonly unknown[],
): Promise<ProjectGates> {
  const files = folders.flatMap((folder) => {
    const names = readdirSync(folder).filter((file) => /\.ya?ml$/.test(file))
    return names.sort().map((file) => join(folder, file))
  })
  const written = files.map((file) => readYaml(readFileSync(file, 'utf8')).source.value)
  return askGates(root, [...written, task_gates])
}

/** What functions that check documents carry. */
export function gateScripts({ modules }: ProjectGates): DeployedGates {
  const found = [...modules].flatMap(([path, module]) => {
    return module.ok ? [[path, { text: module.text, hash: module.hash }] as const] : []
  })
  return Object.fromEntries(found)
}
