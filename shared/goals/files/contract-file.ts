import type { Json } from '../../text/json.ts'
import { didYouMean, suggest } from '../../text/wording.ts'
import { readYaml } from '../../text/yaml.ts'
import { type GoalContract, memberOf } from '../goal-contract.ts'
import { NOTEBOOK_PATH } from '../read-contract.ts'
import { readNotebook, setNotebookValue } from './notebook.ts'
import {
  type Edited,
  findFrontMatter,
  frontMatterYaml,
  saysNothing,
  setFrontMatter,
  setYamlValue,
} from './yaml-edit.ts'

type ContractSource =
  /** What readGoalContract() is to read; undefined = there is no contract in it. */
  { readonly ok: true; readonly contract: string | undefined } | { readonly ok: false; readonly problem: string }

/** A file by its name: a notebook, a Markdown text with front matter, or YAML (JSON is YAML). */
export function kindOfFile(name: string): 'notebook' | 'markdown' | 'yaml' {
  if (/\.ipynb$/i.test(name)) return 'notebook'
  return /\.(md|markdown|qmd|rmd)$/i.test(name) ? 'markdown' : 'yaml'
}

/**
 * The contract of a notebook or Markdown file, as YAML whose lines are those of the cell or file. What looks like one and
 * stands in the wrong place is a problem: passed over in silence it would be no contract.
 */
export function contractSource(name: string, text: string): ContractSource {
  if (kindOfFile(name) === 'yaml') return { ok: true, contract: text }
  if (kindOfFile(name) === 'markdown') return inFrontMatter(text)
  const read = readNotebook(text)
  return read.ok ? inFrontMatter(read.notebook.head?.source ?? '') : read
}

/** The file with this contract: in a YAML document under `goal_contract`, else in the front matter. Other bytes are kept. */
export function writeContract(name: string, text: string, contract: GoalContract): Edited {
  const value = plainJson(contract)
  const kind = kindOfFile(name)
  if (kind === 'yaml') return setYamlValue(text, ['goal_contract'], value, { before: 'blocks' })
  return kind === 'markdown' ? setFrontMatter(text, NOTEBOOK_PATH, value) : setNotebookValue(text, NOTEBOOK_PATH, value)
}

function inFrontMatter(text: string): ContractSource {
  if (findFrontMatter(text).kind === 'open') {
    return { ok: false, problem: 'its front matter begins with "---" and never ends with such a line' }
  }
  const yaml = frontMatterYaml(text)
  if (yaml === undefined || saysNothing(yaml)) return { ok: true, contract: undefined }
  const read = readYaml(yaml)
  // Its errors are told with their lines by whoever reads the contract.
  if (!read.ok) return { ok: true, contract: yaml }
  const problem = misplaced(read.source.value)
  if (problem !== undefined) return { ok: false, problem }
  const has = memberOf(memberOf(read.source.value, 'gyoshu'), 'goal_contract') !== undefined
  return { ok: true, contract: has ? yaml : undefined }
}

function misplaced(matter: Json): string | undefined {
  if (memberOf(matter, 'goal_contract') !== undefined) {
    return 'its front matter has "goal_contract" at the top; it belongs under "gyoshu"'
  }
  const own = memberOf(matter, 'gyoshu')
  if (own === undefined || own === null) return undefined
  if (typeof own !== 'object' || Array.isArray(own)) return 'the "gyoshu" of its front matter is no mapping'
  if (memberOf(own, 'goal_contract') !== undefined) return undefined
  const near = Object.keys(own).find((key) => suggest(key, ['goal_contract']) !== undefined)
  if (near === undefined) return undefined
  return `its front matter has "gyoshu.${near.slice(0, 80)}". ${didYouMean('goal_contract')}`
}

/** A contract as a file says it: without members that are not there. */
function plainJson(contract: GoalContract): Json {
  return JSON.parse(JSON.stringify(contract)) as Json
}
