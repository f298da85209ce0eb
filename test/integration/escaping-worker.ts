import { closeEscapes } from '../../functions/isolate/close-escapes.ts'

/** A child as functions/isolate/worker.ts is one, whose jobs are code: what it still reaches after its escapes are closed. */
closeEscapes()
process.on('message', ({ program, input }: { readonly program: string; readonly input: unknown }) => {
  void tried(program, input).then((text) => process.send?.({ ok: true, text: JSON.stringify(text) }))
})
process.send?.({ ready: true })

async function tried(program: string, input: unknown): Promise<string> {
  try {
    const evaluate = new Function('input', `return (async () => { ${program} })()`)
    return `reached ${String(await evaluate(input))}`
  } catch (error) {
    return `refused: ${error instanceof Error ? error.message : String(error)}`
  }
}
