/** The build reads files of its own folder; the source reads them in the repository. */
const isBuilt = !import.meta.url.endsWith('.ts')

const place = (source: string, built: string) => new URL(isBuilt ? built : source, import.meta.url)

export const SCHEMA = place('../../../../schema.sql', './schema.sql')
export const SAMPLE_CONFIG = place('../../../../gateway.yaml', './gateway.yaml')
export const PACKAGE = place('../../../../package.json', '../package.json')
/** An embedded database with the schema and no row, packed. It is not there where PGlite was not installed at the build. */
export const DATABASE = place('../../../../dist/database.tar.gz', './database.tar.gz')
/** The folder of the built console, with a final slash. */
export const CONSOLE = place('../../../../build/console/', './console/')
