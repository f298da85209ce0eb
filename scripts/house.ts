import { parseArgs } from 'node:util'
import { enteredFiles } from './house/entered.ts'
import { figuresOf, readHouse } from './house/figures.ts'

/**
 * `npm run house [-- --entered] [--folders]`: how large the rooms of this house are, who reads whom, and where an arrow goes
 * round or both ways. `--entered` starts the place and counts the files of it that a document, a run, an approval and a
 * question go through. A person runs it before and after a rebuild and judges; it is no gate (docs/architecture.md).
 */
const { values } = parseArgs({
  options: { entered: { type: 'boolean', default: false }, folders: { type: 'boolean', default: false } },
})
const house = readHouse()
for (const line of figuresOf(house, { folders: values.folders })) process.stdout.write(`${line}\n`)
if (values.entered)
  for (const [request, files] of await enteredFiles()) process.stdout.write(`files entered by ${request}: ${files}\n`)
