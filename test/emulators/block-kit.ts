/**
 * Slack's published limits of the blocks Sluice sends (docs.slack.dev/reference/block-kit), kept apart from the code that
 * builds them. Answers what Slack would refuse, in words; an empty list is a surface Slack takes.
 */
export function blockProblems(blocks: unknown, surface: 'message' | 'modal'): readonly string[] {
  if (!Array.isArray(blocks)) return ['blocks is no list']
  const most = surface === 'message' ? 50 : 100
  const ids = blocks.flatMap((one) => (typeof one?.block_id === 'string' ? [one.block_id] : []))
  return [
    ...check(blocks.length >= 1 && blocks.length <= most, `${blocks.length} blocks`),
    ...check(new Set(ids).size === ids.length, 'a block_id twice'),
    ...blocks.flatMap((one, at) => blockOf(one as Loose, surface).map((problem) => `blocks[${at}]: ${problem}`)),
  ]
}

/** A modal as views.open takes it. */
export function viewProblems(view: unknown): readonly string[] {
  const { type, title, submit, close, blocks, callback_id, private_metadata } = (view ?? {}) as Loose
  return [
    ...check(type === 'modal', `a view of type ${type}`),
    ...[title, submit, close].flatMap((text) => plainText(text as Loose, 24)),
    ...check(length(callback_id) <= 255, 'callback_id is too long'),
    ...check(length(private_metadata) <= 3_000, 'private_metadata is too long'),
    ...blockProblems(blocks, 'modal'),
  ]
}

type Loose = Readonly<Record<string, unknown>>
type Check = (one: Loose, surface: 'message' | 'modal') => readonly string[]

function blockOf(one: Loose, surface: 'message' | 'modal'): readonly string[] {
  const known = BLOCKS[String(one.type)]
  if (known === undefined) return [`unknown type ${one.type}`]
  const [keys, judge] = known
  const strange = Object.keys(one).filter((key) => !['type', 'block_id', ...keys].includes(key))
  return [
    ...strange.map((key) => `unknown key ${key}`),
    ...check(length(one.block_id) <= 255, 'block_id'),
    ...judge(one, surface),
  ]
}

const BLOCKS: Readonly<Record<string, readonly [keys: readonly string[], judge: Check]>> = {
  header: [['text'], ({ text }) => plainText(text as Loose, 150)],
  section: [
    ['text', 'fields', 'accessory', 'expand'],
    ({ text, fields }) => [
      ...check(text !== undefined || fields !== undefined, 'neither text nor fields'),
      ...(text === undefined ? [] : anyText(text as Loose, 3_000)),
      ...list(fields, 10).flatMap((field) => anyText(field, 2_000)),
      ...check(list(fields, 11).length <= 10, 'more than ten fields'),
    ],
  ],
  context: [
    ['elements'],
    ({ elements }) => [
      ...check(list(elements, 11).length >= 1 && list(elements, 11).length <= 10, 'number of elements'),
      ...list(elements, 10).flatMap((element) => anyText(element, 3_000)),
    ],
  ],
  actions: [
    ['elements'],
    ({ elements }, surface) => {
      const buttons = list(elements, 26)
      const ids = buttons.map(({ action_id }) => action_id)
      return [
        ...check(surface === 'message', 'actions in a modal'),
        ...check(buttons.length >= 1 && buttons.length <= 25, 'number of elements'),
        ...check(new Set(ids).size === ids.length, 'an action_id twice'),
        ...buttons.flatMap(button),
      ]
    },
  ],
  input: [
    ['label', 'element', 'hint', 'optional', 'dispatch_action'],
    ({ label, element }, surface) => {
      const { type, action_id, max_length, min_length } = (element ?? {}) as Loose
      return [
        ...check(surface === 'modal', 'an input in a message'),
        ...plainText(label as Loose, 2_000),
        ...check(type === 'plain_text_input', `an input of type ${type}`),
        ...check(length(action_id) >= 1 && length(action_id) <= 255, 'action_id'),
        ...check(max_length === undefined || (Number(max_length) >= 1 && Number(max_length) <= 3_000), 'max_length'),
        ...check(min_length === undefined || Number(min_length) <= 3_000, 'min_length'),
      ]
    },
  ],
}

function button({ type, action_id, text, value, url, style }: Loose): readonly string[] {
  return [
    ...check(type === 'button', `an element of type ${type}`),
    ...plainText(text as Loose, 75),
    ...check(length(action_id) >= 1 && length(action_id) <= 255, 'action_id'),
    ...check(value === undefined || length(value) <= 2_000, 'value is too long'),
    ...check(url === undefined || (URL.canParse(String(url)) && length(url) <= 3_000), 'url'),
    ...check(style === undefined || style === 'primary' || style === 'danger', 'style'),
  ]
}

function anyText(text: Loose | undefined, most: number): readonly string[] {
  if (text?.type === 'mrkdwn') return ofLength(text.text, most)
  return plainText(text, most)
}

function plainText(text: Loose | undefined, most: number): readonly string[] {
  return [...check(text?.type === 'plain_text', 'no plain_text'), ...ofLength(text?.text, most)]
}

/** What is left unescaped would be read as markup; half a character no client can show. */
function ofLength(text: unknown, most: number): readonly string[] {
  const isWhole = typeof text === 'string' && text.isWellFormed()
  return [
    ...check(length(text) >= 1 && length(text) <= most, `a text of ${length(text)} characters`),
    ...check(isWhole, 'half a character'),
  ]
}

function list(value: unknown, most: number): readonly Loose[] {
  return Array.isArray(value) ? value.slice(0, most) : []
}

function length(value: unknown): number {
  return typeof value === 'string' ? value.length : 0
}

function check(holds: boolean, problem: string): readonly string[] {
  return holds ? [] : [problem]
}
