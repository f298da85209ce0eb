import { documentSchema } from '../../../shared/dag/document-schema.ts'
import { settingsSchema } from '../../../shared/settings-schema.ts'
import { HELLO_DAG, NOTES } from './hello-dag.ts'
import { GATE_CHECKS, GITIGNORE, WORKFLOW } from './project-texts.ts'
import { readmeOf } from './readme.ts'
import { SETTINGS_FILE } from './settings-file.ts'

/** Every file of a new project with its text, by its path there. */
export function projectFiles(name: string): ReadonlyMap<string, string> {
  return new Map([
    ['sluice.yaml', SETTINGS_FILE],
    ['dags/hello.yaml', HELLO_DAG],
    ['inputs/notes.md', NOTES],
    ['checks/gates.ndjson', GATE_CHECKS],
    ['schemas/dag.schema.json', text(documentSchema())],
    ['schemas/sluice.schema.json', text(settingsSchema())],
    ['.github/workflows/sluice.yml', WORKFLOW],
    ['.gitignore', GITIGNORE],
    ['README.md', readmeOf(name)],
  ])
}

/** On one line: editors read it, people do not. */
function text(schema: object): string {
  return `${JSON.stringify(schema)}\n`
}
