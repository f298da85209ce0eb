import { completes } from '../../emulators/openai-server.ts'
import { type Asked, type Behaviour, type ProviderServer, serveProvider } from '../../emulators/provider-server.ts'

/** What a language model says to one kind of question; a function is told how often it was asked that. */
type Said = string | object
type Reply = Said | ((nth: number, prompt: string) => Said)

export interface Script {
  readonly classify?: Reply
  readonly route?: Reply
  readonly assess?: Reply
  readonly answer?: Reply
  readonly judge?: Reply
}

/** How each stage's questions begin (shared/prompts). */
const BEGINNINGS: Readonly<Record<keyof Script, string>> = {
  classify: 'You say what a question',
  route: 'You choose how a question',
  assess: 'You judge whether evidence',
  answer: 'You answer a question',
  judge: 'You doubt sentences',
}

/** Not an answer but whatever a server may do. */
export function does(behaviour: Behaviour): Said {
  return { [DOES]: behaviour }
}
const DOES = Symbol('does')

export interface ModelServer extends ProviderServer {
  /** From now on it says this, and what it was asked before is forgotten. */
  say(script: Script): void
  /** Settings of a place that asks this model. */
  readonly settings: { readonly providers: object; readonly research: Readonly<Record<string, unknown>> }
  /** The prompts one stage sent, in order. */
  prompts(kind: keyof Script): readonly string[]
  /** All questions, by their kind. */
  kinds(): readonly (keyof Script)[]
}

/** A language model behind the chat completions protocol that answers each stage as its script says. */
export async function startModel(
  script: Script,
  research: Readonly<Record<string, unknown>> = {},
): Promise<ModelServer> {
  const seen = new Map<string, number>()
  let now = { script, from: 0 }
  const server = await serveProvider((response, asked) => {
    const kind = kindOf(asked)
    const nth = seen.get(kind) ?? 0
    seen.set(kind, nth + 1)
    return behaviour(now.script[kind], nth, promptOf(asked))(response, asked)
  })
  return {
    ...server,
    get asked() {
      return server.asked.slice(now.from)
    },
    say(said) {
      now = { script: said, from: server.asked.length }
      seen.clear()
    },
    settings: {
      providers: { lm: { type: 'openai-compatible', url: `${server.url}/v1` } },
      research: { provider: 'lm', model: 'm', ...research },
    },
    prompts: (kind) =>
      server.asked
        .slice(now.from)
        .filter((asked) => kindOf(asked) === kind)
        .map(promptOf),
    kinds: () => server.asked.slice(now.from).map(kindOf),
  }
}

function behaviour(reply: Reply | undefined, nth: number, prompt: string): Behaviour {
  const one = typeof reply === 'function' ? reply(nth, prompt) : (reply ?? 'no answer was written for this')
  if (typeof one === 'object' && DOES in one) return one[DOES] as Behaviour
  return completes(typeof one === 'string' ? one : JSON.stringify(one))
}

function messages({ body }: Asked): readonly { readonly role: string; readonly content: string }[] {
  return body.messages as readonly { readonly role: string; readonly content: string }[]
}

function kindOf(asked: Asked): keyof Script {
  const system = messages(asked).find(({ role }) => role === 'system')?.content ?? ''
  const found = Object.entries(BEGINNINGS).find(([, words]) => system.startsWith(words))
  if (found === undefined) throw new Error(`a question of no stage: ${system.slice(0, 80)}`)
  return found[0] as keyof Script
}

function promptOf(asked: Asked): string {
  return messages(asked).find(({ role }) => role === 'user')?.content ?? ''
}
