import { readdirSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Names of the documents shipped with the package. */
export function exampleNames(): readonly string[] {
  const folder = fileURLToPath(new URL('../../../dags', import.meta.url))
  return readdirSync(folder)
    .flatMap((file) => (file.endsWith('.yaml') ? [basename(file, '.yaml')] : []))
    .sort()
}
