/** The build reads files of its own folder; the source reads them in the repository. */
const isBuilt = !import.meta.url.endsWith('.ts')

const place = (source: string, built: string) => new URL(isBuilt ? built : source, import.meta.url)

export const SCHEMA = place('../../../../schema.sql', './schema.sql')
export const SAMPLE_CONFIG = place('../../../../gateway.yaml', './gateway.yaml')
export const PACKAGE = place('../../../../package.json', '../package.json')
/** The folder of the built console, with a final slash. */
export const CONSOLE = place('../../../../build/console/', './console/')
